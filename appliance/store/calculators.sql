-- Statements of `calculators.py`: calculators, and the law that they stand on.

-- name: propose_calculator
-- The same rule is proposed once, whatever was decided of it; one whose words have changed is proposed
-- again with its new words.
insert into calculator (city_id, external_id, title, form, digest)
select id, %(external_id)s, %(title)s, %(form)s::jsonb, %(digest)s from city where slug = %(city)s
on conflict (city_id, digest) do update
set form = excluded.form, title = excluded.title, state = 'proposed', because = null,
    decided_by = null, decided_at = null, proposed_at = now()
where calculator.state = 'disabled'
returning id;

-- name: calculators_of_city
select c.id, ci.slug, c.form::text, c.state, c.because
from calculator c join city ci on ci.id = c.city_id
where ci.slug = %(city)s and c.state = any(%(states)s)
order by c.external_id, c.id;

-- name: calculator
select c.id, ci.slug, c.form::text, c.state, c.because
from calculator c join city ci on ci.id = c.city_id
where c.id = %(id)s;

-- name: decide_calculator
update calculator
set state = %(state)s, because = null, decided_by = %(who)s, decided_at = now()
where id = %(id)s;

-- name: disable_calculator
-- One that is not in use cannot be disabled: a person's decision is not touched.
update calculator set state = 'disabled', because = %(because)s
where id = %(id)s and state = 'approved';

-- name: rebind_calculator
-- The same words stand in a new version: only where they stand has changed.
update calculator set form = %(form)s::jsonb where id = %(id)s;

-- name: current_sections
-- The current versions of some records of a city, or of all of them, in reading order.
select {section_columns}
from section s
join document d on d.id = s.document_id
join city ci on ci.id = s.city_id
where ci.slug = %(city)s and d.current
  and (%(external_ids)s::text[] is null or s.external_id = any(%(external_ids)s))
order by d.file, d.place, d.id, s.position;
