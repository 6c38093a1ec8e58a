-- Reading a city's law whole, for what it mentions.

-- name: scan
-- How many sections there are to read on the day, and those of them in which the pattern occurs: in
-- the text, the heading or the titles over it.  The pattern is of one word, which no chunk's end breaks;
-- of the sections that have it all chunks are put together, which tile them, so that a name of several
-- words is found across the end of a chunk.  One row of nulls if no section has it.
with law as materialized (
    select c.section_id, bool_or(t.text ~* %(pattern)s) as said
    from chunk c
    join chunk_text t on t.chunk_id = c.id
    join document d on d.id = c.document_id
    where c.city_id = (select id from city where slug = %(city)s)
      and c.searchable
      and (d.effective_from is null or d.effective_from <= %(as_of)s)
      and (d.effective_until is null or d.effective_until > %(as_of)s)
    group by c.section_id
)
select n.sections, m.*
from (select count(*) as sections from law) n
left join (
    select s.id, s.external_id, s.citation, s.heading, s.path, s.inside, w.begins - s.span_start as begins,
           w.words
    from law l
    join section s on s.id = l.section_id
    cross join lateral (
        select min(c.span_start) as begins, string_agg(t.text, '' order by c.ordinal) as words
        from chunk c
        join chunk_text t on t.chunk_id = c.id
        where c.section_id = l.section_id and c.searchable
    ) w
    where l.said or s.heading ~* %(pattern)s or array_to_string(s.path, E'\n') ~* %(pattern)s
) m on true
order by m.id;

-- name: defined_in
-- The terms that these sections define, each with its definition's place in the section's text.
select m.section_id, m.number, m.span_start - s.span_start, m.span_end - s.span_start
from mention m
join section s on s.id = m.section_id
where m.role = 'defines' and m.section_id = any(%(sections)s)
order by m.id;
