-- Numbers that questions name, looked up by their keys.

-- name: bearing
-- The sections with a label of one of the keys; they bear labels of all the containers in `within`,
-- too, of which row i is a kind and a key for the container numbered `places[i]`.
select l.kind, l.number, min(l.weight) as weight, s.id, s.external_id, s.citation, s.heading, s.path,
       s.standing, d.effective_from, d.effective_until, d.kind
from section_label l
join section s on s.id = l.section_id
join document d on d.id = s.document_id
where l.city_id = (select id from city where slug = %(city)s)
  and number_key(l.number) collate "C" = any(%(keys)s::text[])
  and l.kind = any(%(kinds)s)
  and (%(containers)s = 0 or %(containers)s = (
    select count(distinct w.place)
    from unnest(%(places)s::int[], %(within_kinds)s::text[], %(within_keys)s::text[])
         w (place, kind, key)
    join section_label x
      on x.section_id = l.section_id and x.kind = w.kind and number_key(x.number) = w.key))
group by l.kind, l.number, s.id, d.id
order by min(l.weight), d.current desc, s.id
limit %(most)s;

-- name: beneath
-- The sections whose own number begins with the key and a joint ("/" follows "." in ASCII).
select l.kind, l.number, l.weight, s.id, s.external_id, s.citation, s.heading, s.path,
       s.standing, d.effective_from, d.effective_until, d.kind
from section_label l
join section s on s.id = l.section_id
join document d on d.id = s.document_id
where l.city_id = (select id from city where slug = %(city)s)
  and number_key(l.number) collate "C" >= %(key)s || '.'
  and number_key(l.number) collate "C" < %(key)s || '/'
  and l.weight = 0 and l.kind <> 'whole'
order by d.current desc, s.id
limit %(most)s;

-- name: first_chunks
-- The first chunk of each section, as far as it is in force.
select distinct on (c.section_id) c.section_id, c.id
from chunk c
join document d on d.id = c.document_id
where c.section_id = any(%(sections)s) and c.searchable
  and (%(only)s::bigint[] is null or c.section_id = any(%(only)s))
  and (d.effective_from is null or d.effective_from <= %(as_of)s)
  and (d.effective_until is null or d.effective_until > %(as_of)s)
order by c.section_id, c.ordinal;
