-- The vectors of a city: the partition, its index, and the search in it.

-- name: fill_vectors
insert into {partition} (city_id, chunk_id, vector)
select c.city_id, c.id, e.vector
from chunk c join {embeddings} e on e.input = c.input
where c.city_id = %(city)s and c.searchable
order by c.id;

-- name: dimension
select atttypmod from pg_attribute where attrelid = %(partition)s::regclass and attname = 'vector';

-- name: keep_dense_index
insert into dense_index (vectors, city_id, rows, hnsw)
values (%(vectors)s, %(city)s, %(rows)s, %(hnsw)s)
on conflict (vectors, city_id) do update set rows = excluded.rows, hnsw = excluded.hnsw;

-- name: searched_city
select c.id, c.settled_from, c.settled_until, c.dense_ready, coalesce(i.rows, 0), i.hnsw
from city c left join dense_index i on i.city_id = c.id and i.vectors = %(vectors)s
where c.slug = %(slug)s;

-- name: walk_settings
-- For this transaction only; a sequential scan is no way to walk through a graph.
select set_config('hnsw.ef_search', %(ef_search)s::text, true),
       set_config('hnsw.iterative_scan', 'strict_order', true),
       set_config('hnsw.max_scan_tuples', %(rows)s::text, true),
       set_config('enable_seqscan', 'off', true);

-- name: scan_settings
select set_config('enable_seqscan', 'on', true);

-- name: dense_walk
-- The nearest by the graph, in a statement that holds nothing else, and then those that may be found.
with nearest as materialized (
    select v.chunk_id, v.vector <=> %(vector)s as distance
    from {vectors} v
    where v.city_id = %(city)s
    order by v.vector <=> %(vector)s
    limit %(depth)s
)
select n.chunk_id, c.section_id, 1 - n.distance
from nearest n
join chunk c on c.id = n.chunk_id
join document d on d.id = c.document_id
where (d.effective_from is null or d.effective_from <= %(as_of)s)
  and (d.effective_until is null or d.effective_until > %(as_of)s)
order by n.distance + 0, n.chunk_id
limit %(k)s;

-- name: dense_scan
-- The same by an exact scan of the city's partition; "offset 0" keeps the planner from any index and
-- has each distance worked out once.
with nearest as materialized (
    select chunk_id, distance
    from (select v.chunk_id, v.vector <=> %(vector)s as distance
          from {vectors} v where v.city_id = %(city)s offset 0) d
    order by distance, chunk_id
    limit %(depth)s
)
select n.chunk_id, c.section_id, 1 - n.distance
from nearest n
join chunk c on c.id = n.chunk_id
join document d on d.id = c.document_id
where (d.effective_from is null or d.effective_from <= %(as_of)s)
  and (d.effective_until is null or d.effective_until > %(as_of)s)
order by n.distance, n.chunk_id
limit %(k)s;

-- name: dense_among
-- An exact scan among what may be found: where that is little of the city.
select chunk_id, section_id, 1 - distance
from (select v.chunk_id, c.section_id, v.vector <=> %(vector)s as distance
      from chunk c
      join document d on d.id = c.document_id
      join {vectors} v on v.chunk_id = c.id
      where v.city_id = %(city)s and c.city_id = %(city)s and c.searchable
        and (%(only)s::bigint[] is null or c.section_id = any(%(only)s))
        and (d.effective_from is null or d.effective_from <= %(as_of)s)
        and (d.effective_until is null or d.effective_until > %(as_of)s)
      offset 0) e
order by distance, chunk_id
limit %(k)s;

-- name: eligible
-- How many chunks of a city a search may find.
select count(*)
from chunk c join document d on d.id = c.document_id
where c.city_id = %(city)s and c.searchable
  and (%(only)s::bigint[] is null or c.section_id = any(%(only)s))
  and (d.effective_from is null or d.effective_from <= %(as_of)s)
  and (d.effective_until is null or d.effective_until > %(as_of)s);

-- name: indexed_cities
select c.id, c.slug, coalesce(i.rows, (select count(*) from {vectors} v where v.city_id = c.id)),
       i.hnsw is not null
from city c left join dense_index i on i.city_id = c.id and i.vectors = %(vectors)s
where exists (select from chunk k where k.city_id = c.id and k.searchable)
order by c.slug;

-- name: build_progress
select coalesce(max(tuples_done), 0) from pg_stat_progress_create_index
where datname = current_database();
