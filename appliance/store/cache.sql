-- Answers made before: see migrations/0011_answer_cache.sql.

-- name: find_cached
-- The version of the city's law, which is all that an answer depends on of what is stored: the law,
-- what can be searched of it, and the names of all cities, as a question that names another one is sent
-- there.  With it, what was kept from that version.
with held as (
    select md5(concat_ws('|', c.corpus, c.name, c.office, c.state, c.dense_ready, c.lexical_ready,
                         c.words_version, c.weighed, c.average_length, i.rows, i.hnsw,
                         (select string_agg(slug || '=' || name, '|' order by slug) from city))) as corpus
    from city c left join dense_index i on i.city_id = c.id and i.vectors = %(vectors)s
    where c.slug = %(city)s and c.chunks > 0 and c.state in ('live', 'limited')
)
select held.corpus, a.exact = %(exact)s, a.exact, a.sealed
from held left join cached_answer a
    on (a.exact = %(exact)s or a.semantic = %(semantic)s) and a.corpus = held.corpus
order by 2 desc, a.kept_at desc
limit 1;

-- name: keep_cached
insert into cached_answer (exact, semantic, corpus, city_id, sealed)
select %(exact)s, %(semantic)s, %(corpus)s, id, %(sealed)s from city where slug = %(city)s
on conflict (exact) do update
set corpus = excluded.corpus, sealed = excluded.sealed, kept_at = now();

-- name: trim_cached
-- The city's answers that are too old, or too many.
delete from cached_answer a using city c
where c.slug = %(city)s and a.city_id = c.id
  and (a.kept_at < now() - make_interval(days => %(days)s)
       or a.kept_at < (select kept_at from cached_answer b where b.city_id = c.id
                       order by kept_at desc offset %(most)s - 1 limit 1));

-- name: drop_cached
delete from cached_answer where exact = %(exact)s;

-- name: clear_cached
delete from cached_answer a using city c
where a.city_id = c.id and (%(city)s::text is null or c.slug = %(city)s);

-- name: count_cached
select c.slug, count(*), sum(length(a.sealed))::bigint, min(a.kept_at)
from cached_answer a join city c on c.id = a.city_id
group by c.slug order by c.slug;
