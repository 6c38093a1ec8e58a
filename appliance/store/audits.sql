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
select count(*), max(d.fetched_at),
       bool_or(exists(select from corpus_file f where f.path = d.file and f.city = ci.slug))
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
-- What was turned away of the files that brought the city's documents, and of the files beside them
-- that brought nothing at all: a folder of pages, one a file, of which some are bad.
with file as (
    select d.file as path, regexp_replace(d.file, '[^/]*$', '') as folder,
           count(*) filter (where ci.slug = %(city)s) as held, count(*) as of_all
    from document d join city ci on ci.id = d.city_id
    where d.current
    group by d.file
), folder as (
    select folder, sum(held)::bigint as held, sum(of_all)::bigint as of_all
    from file group by folder having sum(held) > 0
)
select f.path, f.held, f.of_all, r.rejected, r.reasons, r.documents = 0 and r.rejected > 0, false
from file f
left join lateral (
    select documents, rejected, reasons from corpus_file c
    where c.path = f.path order by read_at desc limit 1) r on true
where f.held > 0
union all
select c.path, g.held, g.of_all, c.rejected, c.reasons, false, true
from corpus_file c
join folder g on g.folder = regexp_replace(c.path, '[^/]*$', '')
where c.rejected > 0 and not exists (select from file f where f.path = c.path)
order by 7, 1;

-- name: probe
-- How many of these chunks are in force, and the section of the best one.
select count(*),
       (array_agg(s.citation order by x.score desc, s.id))[1],
       (array_agg(s.external_id order by x.score desc, s.id))[1]
from unnest(%(ids)s::bigint[], %(scores)s::float8[]) x (id, score)
join chunk c on c.id = x.id
join section s on s.id = c.section_id
join document d on d.id = c.document_id
where d.current
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
