-- The audit of cities: what a verdict is made of, and where it is kept.

-- name: audits_due
-- Cities that were never audited, or whose rows have changed since.
select slug from city where audited_at is null order by chunks, id;

-- name: audit_again
-- A file was read anew: its cities' audits are out of date, also where it brought rejections only.
update city set audited_at = null
where id = any(%(cities)s)
   or id in (select city_id from document where file = %(file)s and current);

-- name: audit_counts
select count(*), max(d.fetched_at)
from document d join city ci on ci.id = d.city_id
where ci.slug = %(city)s and d.current;

-- name: law_of_city
-- Every section of the current versions; a document's body comes once, with its first section.
select s.id, ci.slug, s.external_id, s.citation, s.number, s.heading, s.path, s.standing, d.digest,
       d.effective_from, d.effective_until, d.url, s.span_start, s.span_end,
       case when s.position = 0 then d.body end
from document d
join section s on s.document_id = d.id
join city ci on ci.id = d.city_id
where ci.slug = %(city)s and d.current
order by d.id, s.position;

-- name: refused_of_city
-- What was turned away of the files that brought the city's documents.
select d.file, count(*) filter (where ci.slug = %(city)s), count(*), f.rejected, f.reasons,
       f.documents = 0 and f.rejected > 0
from document d
join city ci on ci.id = d.city_id
left join lateral (
    select documents, rejected, reasons from corpus_file f
    where f.path = d.file order by read_at desc limit 1) f on true
where d.current and d.file in (
    select file from document e join city c on c.id = e.city_id where c.slug = %(city)s and e.current)
group by d.file, f.documents, f.rejected, f.reasons
order by d.file;

-- name: probe
-- How many chunks in force hold a word of each of three groups, and the section of the best one.
-- (<#> is the negative inner product: below zero where any of a group's words occurs.)
select count(*),
       (array_agg(s.citation order by l.weights <#> %(all)s, s.id))[1],
       (array_agg(s.external_id order by l.weights <#> %(all)s, s.id))[1]
from chunk_lexical l
join chunk c on c.id = l.chunk_id
join section s on s.id = c.section_id
join document d on d.id = c.document_id
join city ci on ci.id = d.city_id
where l.city_id = (select id from city where slug = %(city)s)
  and (l.weights <#> %(first)s) < 0 and (l.weights <#> %(second)s) < 0
  and (l.weights <#> %(third)s) < 0
  and d.current
  and (d.effective_from is null or d.effective_from <= %(day)s)
  and (d.effective_until is null or d.effective_until > %(day)s);

-- name: keep_audit
insert into audit (city_id, verdict, coverage, reasons, fix)
select id, %(verdict)s, %(coverage)s, %(reasons)s, %(fix)s from city where slug = %(city)s
on conflict (city_id) do update
set verdict = excluded.verdict, coverage = excluded.coverage, reasons = excluded.reasons,
    fix = excluded.fix;

-- name: settle_state
-- A city's state is what an admin set it to, else what its audit says.
update city set audited_at = now(), state = coalesce(
    (select state from audit_override o where o.city_id = city.id and o.cleared_at is null),
    (select verdict from audit a where a.city_id = city.id),
    'staged')
where slug = %(city)s;

-- name: clear_override
update audit_override set cleared_at = now()
where cleared_at is null and city_id = (select id from city where slug = %(city)s)
returning id;

-- name: keep_override
insert into audit_override (city_id, state, because, who, verdict)
select c.id, %(state)s, %(because)s, %(who)s, a.verdict
from city c join audit a on a.city_id = c.id
where c.slug = %(city)s;
