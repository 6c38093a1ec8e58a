-- Statements of `cited.py`: what a citation that somebody wrote down can be about.

-- name: cited
-- Sections, current or past, that bear the number as one of the kind, or the whole citation.  The weight
-- says how much the name is the section's own (corpus/labels.py).  The text comes only of those that have
-- a word of the quote, or characters that can stand unseen within one.
select s.id, ci.slug, s.external_id, s.citation, s.number, s.heading, s.path, s.standing, d.digest,
       d.effective_from, d.effective_until,
       case when strpos(t.text, %(word)s) > 0 or t.text ~ %(invisible)s then t.text else '' end, d.url,
       d.kind, d.superseded_by, d.dated_by_box, s.inside, null, null, b.weight
from (
    select l.section_id, min(l.weight) as weight
    from section_label l
    where (l.number, l.kind) in ((%(number)s, %(kind)s), (%(whole)s, 'whole'))
      and l.city_id = (select id from city where slug = %(city)s)
    group by l.section_id
    order by min(l.weight), l.section_id desc
    limit %(limit)s
) b
join section s on s.id = b.section_id
join document d on d.id = s.document_id
join city ci on ci.id = s.city_id
cross join lateral (
    select substr(d.body, s.span_start + 1, s.span_end - s.span_start) as text) t
order by b.weight, d.current desc, s.id;

-- name: cited_elsewhere
-- The same of all other cities.
select s.id, ci.slug, s.external_id, s.citation, s.number, s.heading, s.path, s.standing, d.digest,
       d.effective_from, d.effective_until,
       case when strpos(t.text, %(word)s) > 0 or t.text ~ %(invisible)s then t.text else '' end, d.url,
       d.kind, d.superseded_by, d.dated_by_box, s.inside, null, null, b.weight
from (
    select l.section_id, min(l.weight) as weight
    from section_label l
    where (l.number, l.kind) in ((%(number)s, %(kind)s), (%(whole)s, 'whole'))
      and l.city_id <> (select id from city where slug = %(city)s)
    group by l.section_id
    order by min(l.weight), l.section_id desc
    limit %(limit)s
) b
join section s on s.id = b.section_id
join document d on d.id = s.document_id
join city ci on ci.id = s.city_id
cross join lateral (
    select substr(d.body, s.span_start + 1, s.span_end - s.span_start) as text) t
order by b.weight, d.current desc, s.id;

-- name: rarest_postings
-- The postings of the rarest of the terms, and how many of the terms the city has at all.
select p.term, p.base, p.entries, count(*) over () as known
from posting p
where p.city_id = (select id from city where slug = %(city)s) and p.term = any(%(terms)s)
order by p.documents, p.term
limit %(most)s;

-- name: sections_of_chunks
-- The sections of these chunks in which some words of the quote stand in a row; the chunk behind each
-- is read with it, as a quote may go on there.
select {section_columns}
from section s
join document d on d.id = s.document_id
join city ci on ci.id = s.city_id
where s.id in (
    select c.section_id
    from chunk c
    join chunk_text t on t.chunk_id = c.id
    left join chunk n on n.section_id = c.section_id and n.ordinal = c.ordinal + 1
    left join chunk_text next on next.chunk_id = n.id
    where c.id = any(%(chunks)s) and t.text || coalesce(next.text, '') ~ %(fragment)s
    order by c.id
    limit %(limit)s)
order by s.id;

-- name: held_versions
-- Every version of a city's record, with the digest of its body as it is stored now; and whatever
-- section of the city has the id.
select {section_columns}, encode(sha256(convert_to(d.body, 'UTF8')), 'hex')
from section s
join document d on d.id = s.document_id
join city ci on ci.id = s.city_id
where ci.slug = %(city)s and (s.external_id = %(external_id)s or s.id = %(section)s)
order by s.id;
