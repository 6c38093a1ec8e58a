-- Every statement of the store, by name.  `%(x)s` are parameters; `{x}` are identifiers that
-- `sql.py` puts in (partitions and the tables of a model).

-- name: cities
-- What is held of each city, and what its audit says.  Live is only what is searched by meaning, too.
select slug, name, office, sections, chunks, encoded, newest, topics, dense_ready,
       case when city.state = 'live' and not dense_ready then 'limited' else city.state end,
       a.verdict, a.coverage, a.reasons, a.fix,
       o.state, o.because, o.who, o.made_at, o.verdict
from city
left join audit a on a.city_id = city.id
left join audit_override o on o.city_id = city.id and o.cleared_at is null
order by slug;

-- name: nearest_cities
-- The names closest to a mistyped one.
select slug from city
where slug %% %(slug)s or slug like %(prefix)s
order by similarity(slug, %(slug)s) desc
limit 3;

-- name: city_id
select id from city where slug = %(slug)s;

-- name: named
-- The first chunk of every section that bears one of the numbers, its own number first.
select c.id, c.section_id, min(l.weight)::real as weight
from section_label l
join chunk c on c.section_id = l.section_id and c.searchable
join document d on d.id = c.document_id
where l.city_id = %(city)s and l.number = any(%(numbers)s)
  and l.kind = any(%(kinds)s)
  and (%(only)s::bigint[] is null or c.section_id = any(%(only)s))
  and (d.effective_from is null or d.effective_from <= %(as_of)s)
  and (d.effective_until is null or d.effective_until > %(as_of)s)
group by c.id, c.section_id
order by min(l.weight), c.id
limit %(k)s;

-- name: section_columns
-- (a fragment: what every reading of sections selects)
s.id, ci.slug, s.external_id, s.citation, s.number, s.heading, s.path, s.standing, d.digest,
d.effective_from, d.effective_until,
substr(d.body, s.span_start + 1, s.span_end - s.span_start), d.url,
d.kind, d.superseded_by, d.dated_by_box, s.inside,
case when s.inside > 0 then (
    select r.citation from section r where r.document_id = s.document_id and r.position = 0) end,
(select jsonb_agg(jsonb_build_array(a.law, l.external_id, a.kind, a.enacted, a.effective)
                  order by a.effective nulls last, a.id)
 from amended_section x
 join amendment a on a.id = x.amendment_id
 join document l on l.id = a.law_id
 where x.section_id = s.id)

-- name: chunks
select c.id, c.section_id, c.span_start - s.span_start, c.span_end - s.span_start, c.kind,
       array(select l - s.span_start from unnest(c.titles || c.header) with ordinality x (l, i) order by i)
from chunk c
join section s on s.id = c.section_id
where c.id = any(%(ids)s);

-- name: previews
-- Chunks as they are ranked and listed, without the body that they are cut from.
select c.id, c.section_id, c.document_id, ci.slug, s.external_id, s.citation, s.number, s.heading, s.path,
       s.crumb, s.inside, s.span_end - s.span_start, s.standing, d.effective_from, d.effective_until,
       d.kind, c.span_start - s.span_start, c.span_end - s.span_start, c.ordinal, c.kind,
       t.text, t.titles, t.header
from chunk c
join chunk_text t on t.chunk_id = c.id
join section s on s.id = c.section_id
join document d on d.id = c.document_id
join city ci on ci.id = c.city_id
where c.id = any(%(ids)s);

-- name: sections
select {section_columns}
from section s
join document d on d.id = s.document_id
join city ci on ci.id = s.city_id
where s.id = any(%(ids)s);

-- name: by_label
-- Every section, current or past, that bears one of the numbers; everywhere if no city is given.
select {section_columns}, min(l.weight)
from section_label l
join section s on s.id = l.section_id
join document d on d.id = s.document_id
join city ci on ci.id = s.city_id
where l.number = any(%(numbers)s) and l.kind = any(%(kinds)s)
  and (%(city)s::text is null or ci.slug = %(city)s)
group by s.id, d.id, ci.id
order by min(l.weight), d.current desc, s.id
limit %(limit)s;

-- name: known_labels
-- Which of the numbers exist in the city at all.
select distinct l.kind, l.number
from section_label l join city ci on ci.id = l.city_id
where ci.slug = %(city)s and l.number = any(%(numbers)s);

-- ------------------------------------------------------------------ loading

-- name: upsert_city
insert into city (slug, name, office) values (%(slug)s, %(name)s, %(office)s)
on conflict (slug) do update
set name = excluded.name, office = coalesce(excluded.office, city.office)
returning id;

-- name: file_known
select 1 from corpus_file
where path = %(path)s and city = %(city)s and digest = %(digest)s and pipeline = %(pipeline)s;

-- name: file_read
insert into corpus_file (path, city, digest, pipeline, documents, rejected, reasons)
values (%(path)s, %(city)s, %(digest)s, %(pipeline)s, %(documents)s, %(rejected)s, %(reasons)s::jsonb)
on conflict (path, city) do update
set digest = excluded.digest, pipeline = excluded.pipeline, documents = excluded.documents,
    rejected = excluded.rejected, reasons = excluded.reasons, read_at = now();

-- name: current_versions
select external_id, id, version, pipeline, effective_from from document
where city_id = %(city)s and current and external_id = any(%(ids)s);

-- name: of_file
-- The current documents that a file brought when it was read before.
select id, city_id, external_id from document where file = %(file)s and current;

-- name: adopt
update document d set file = %(file)s, place = k.place
from unnest(%(ids)s::text[], %(places)s::int[]) k (external_id, place)
where d.city_id = %(city)s and d.current and d.external_id = k.external_id
  and (d.file, d.place) is distinct from (%(file)s, k.place);

-- name: drop_versions
delete from document where id = any(%(ids)s);

-- name: summarise_city
update city set
    sections = (select count(*) from section s join document d on d.id = s.document_id
                where s.city_id = city.id and d.current),
    chunks = (select count(*) from chunk c join document d on d.id = c.document_id
              where c.city_id = city.id and c.searchable and d.current),
    -- A law that has passed and is yet to come is not the newest that applies.
    newest = (select max(effective_from) from document d
              where d.city_id = city.id and d.current and d.effective_from <= current_date),
    settled_from = (select max(effective_from) from document d where d.city_id = city.id),
    settled_until = (select min(effective_until) from document d where d.city_id = city.id),
    topics = coalesce((select array_agg(heading) from (
        select s.heading from section s join document d on d.id = s.document_id
        where s.city_id = city.id and d.current and s.standing = 'in_force'
          and s.span_end - s.span_start > 400
        order by md5(s.external_id) limit 8) t), array[]::text[])
where id = %(city)s;

-- name: unencoded
-- Distinct embedding inputs of a city that have no vector yet.
with left_over as (
    select distinct on (c.input) c.input, c.id, c.section_id
    from chunk c
    where c.city_id = %(city)s and c.searchable
      and not exists (select from {embeddings} e where e.input = c.input)
    order by c.input
    limit %(limit)s
)
select l.input, s.crumb, t.titles, t.text
from left_over l
join section s on s.id = l.section_id
join chunk_text t on t.chunk_id = l.id
order by l.id;

-- name: count_unencoded
select count(distinct c.input) from chunk c
where c.city_id = %(city)s and c.searchable
  and not exists (select from {embeddings} e where e.input = c.input);

-- name: count_encoded
update city set encoded = (
    select count(*) from chunk c join document d on d.id = c.document_id
    where c.city_id = city.id and c.searchable and d.current
      and exists (select from {embeddings} e where e.input = c.input))
where id = %(city)s;

-- name: stale_cities
-- Cities whose partitions do not hold all that the rows say, or lack the index that their size asks for.
select c.id, c.slug
from city c left join dense_index i on i.city_id = c.id and i.vectors = %(vectors)s
where not (c.lexical_ready and c.dense_ready and (
        coalesce(i.rows, c.chunks) <= %(exact_up_to)s or i.hnsw is not null))
  and exists (select from chunk k where k.city_id = c.id and k.searchable)
order by c.chunks, c.id;
