-- What citations are generated from, and what says apart from the verifier whether they are true.

-- name: sampled
-- Sections of every city by chance: at most `each` a city of those in force on the day, of those that
-- are not, and of those that share their number; with the citation of the section behind each.
with law as (
    select s.id, s.city_id, s.document_id, s.number, s.standing, s.span_start, s.span_end,
           lead(s.citation) over (partition by s.city_id order by s.id) as neighbour,
           count(*) over (partition by s.city_id, s.number) as bearers
    from section s
), dated as (
    select l.*, d.effective_from, d.effective_until,
           case when l.standing <> 'in_force' or d.effective_until <= %(day)s then 'dead'
                when d.effective_from > %(day)s then 'later'
                when l.number is not null and l.bearers between 2 and 60 then 'shared'
                else 'alive' end as state
    from law l join document d on d.id = l.document_id
    where l.span_end - l.span_start between %(least)s and %(most)s
), chosen as (
    select *, row_number() over (partition by city_id, state
                                 order by md5(id::text || %(seed)s::text)) as place
    from dated
)
select ci.slug, c.state, s.citation, s.number, c.neighbour, c.effective_from, c.effective_until,
       substr(d.body, c.span_start + 1, c.span_end - c.span_start)
from chosen c
join section s on s.id = c.id
join document d on d.id = c.document_id
join city ci on ci.id = c.city_id
where c.place <= %(each)s
order by ci.slug, s.id;

-- name: in_force_texts
-- What the sections that bear a number, as anything, say on a day.
select substr(d.body, s.span_start + 1, s.span_end - s.span_start)
from section s
join document d on d.id = s.document_id
join city ci on ci.id = s.city_id
where ci.slug = %(city)s and s.standing = 'in_force'
  and (d.effective_from is null or d.effective_from <= %(day)s)
  and (d.effective_until is null or d.effective_until > %(day)s)
  and exists (select from section_label l
              where l.section_id = s.id and l.number = any(%(numbers)s));
