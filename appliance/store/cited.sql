-- Statements of `cited.py`: what a citation that somebody wrote down can be about.

-- name: cited
-- Sections, current or past, that bear the number as one of the kind, or the whole citation; in every
-- city if none is given.  The weight says how much the name is the section's own (corpus/labels.py).
select {section_columns}, b.weight
from (
    select l.section_id, min(l.weight) as weight
    from section_label l
    where (l.number, l.kind) in ((%(number)s, %(kind)s), (%(whole)s, 'whole'))
      and (%(city)s::text is null or l.city_id = (select id from city where slug = %(city)s))
    group by l.section_id
) b
join section s on s.id = b.section_id
join document d on d.id = s.document_id
join city ci on ci.id = s.city_id
order by b.weight, d.current desc, s.id
limit %(limit)s;

-- name: rarest_postings
-- The postings of the rarest of the terms, and how many of the terms the city has at all.
select p.term, p.base, p.entries, count(*) over () as known
from posting p
where p.city_id = (select id from city where slug = %(city)s) and p.term = any(%(terms)s)
order by p.documents, p.term
limit %(most)s;

-- name: sections_of_chunks
select distinct section_id from chunk where id = any(%(chunks)s);
