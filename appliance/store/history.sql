-- Statements of `history.py`: versions in time, and what enacted laws do to them.

-- name: versions_of
-- Every version of the documents, the current one first.
select external_id, id, version, digest, pipeline, current, effective_from, effective_until,
       dated_by_box, stored_at
from document
where city_id = %(city)s and external_id = any(%(ids)s)
order by external_id, current desc, id;

-- name: end_versions
-- A version ends when the next one begins, at the latest at its own end if that was known.
-- (least and greatest pass over nulls.)
update document d
set current = false,
    effective_until = greatest(least(e.until, d.effective_until), d.effective_from),
    retired_at = coalesce(d.retired_at, now())
from unnest(%(ids)s::bigint[], %(untils)s::date[]) as e (id, until)
where d.id = e.id;

-- name: keep_stored_at
-- The same text cut anew is no news.
update document d set stored_at = e.stored_at
from unnest(%(ids)s::text[], %(times)s::timestamptz[]) as e (external_id, stored_at)
where d.city_id = %(city)s and d.current and d.external_id = e.external_id;

-- name: amending_laws
-- The current documents of a city among the ids, for what they amend.
select external_id, id from document
where city_id = %(city)s and current and external_id = any(%(ids)s);

-- name: has_amendments
select exists (select from amendment where city_id = %(city)s);

-- name: city_slug
select slug from city where id = %(city)s;

-- name: amended_candidates
-- Every version of every section that bears the number of an amendment, by its own citation or
-- heading, or a table of that number; for amendments of chapters, what lies in a chapter of that name.
select a.id, s.id, s.citation, s.path
from amendment a
join document l on l.id = a.law_id and l.current
join section_label b on b.city_id = a.city_id and b.number = a.number
    and b.kind in ('section', 'table') and b.weight <= 2
join section s on s.id = b.section_id and s.document_id <> a.law_id
join document d on d.id = s.document_id and d.kind <> 'ordinance'
where a.city_id = %(city)s and a.number is not null
union
select a.id, s.id, s.citation, s.path
from amendment a
join document l on l.id = a.law_id and l.current
join section s on s.city_id = a.city_id
join document d on d.id = s.document_id and d.kind <> 'ordinance'
where a.city_id = %(city)s and a.number is null
  and not exists (select from unnest(a.within) named where not exists (
      select from unnest(s.path) level where lower(level) ~ ('^' || named || '([^0-9a-z]|$)')));

-- name: amendments_held
select a.id, a.number, a.within, a.code, a.kind,
       substr(l.body, a.matter_start + 1, least(a.matter_end - a.matter_start, %(longest)s))
from amendment a join document l on l.id = a.law_id
where a.city_id = %(city)s and l.current;

-- name: section_text
-- With its heading, as laws write both in one.
select s.heading || E'\n\n' || substr(d.body, s.span_start + 1, s.span_end - s.span_start)
from section s join document d on d.id = s.document_id
where s.id = %(section)s;

-- name: unlink_amendments
delete from amended_section x using amendment a
where a.id = x.amendment_id and a.city_id = %(city)s;

-- name: link_amendments
insert into amended_section (amendment_id, section_id)
select * from unnest(%(amendments)s::bigint[], %(sections)s::bigint[]);

-- name: last_run
-- The moment before the last ingest that changed the city: the reading before it had ended by then.
-- (Every ingest opens a job when it has read its files.)
with change as (
    select greatest(max(d.stored_at), max(d.retired_at)) as at
    from document d join city c on c.id = d.city_id where c.slug = %(city)s
)
select (select max(j.started_at) from job j where j.kind = 'encode' and j.started_at < change.at)
from change;

-- name: held_before
-- Whether the box held anything of the city before a day.
select exists (
    select from document d join city c on c.id = d.city_id
    where c.slug = %(city)s and d.stored_at < %(moment)s);

-- name: changed_since
-- The documents of a city of which a version came or went since a moment.
select distinct d.external_id
from document d join city c on c.id = d.city_id
where c.slug = %(city)s and (d.stored_at >= %(moment)s or d.retired_at >= %(moment)s);

-- name: sections_held
-- What the box held of documents at a moment; without one, what it holds now.
select s.external_id, s.citation, s.number, s.heading, s.standing,
       substr(d.body, s.span_start + 1, s.span_end - s.span_start)
from section s
join document d on d.id = s.document_id
join city c on c.id = d.city_id
where c.slug = %(city)s and d.external_id = any(%(documents)s)
  and case when %(moment)s::timestamptz is null then d.current
      else d.stored_at < %(moment)s and (d.current or d.retired_at >= %(moment)s) end
order by d.external_id, s.position;

-- name: sections_in_force
-- What of a city's documents that have several versions, or one that begins or ended, was law on a day.
select s.external_id, s.citation, s.number, s.heading, s.standing,
       substr(d.body, s.span_start + 1, s.span_end - s.span_start)
from section s
join document d on d.id = s.document_id
join city c on c.id = d.city_id
where c.slug = %(city)s
  and (d.effective_from is null or d.effective_from <= %(day)s)
  and (d.effective_until is null or d.effective_until > %(day)s)
order by d.external_id, s.position;
