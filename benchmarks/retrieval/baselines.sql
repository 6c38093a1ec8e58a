-- What others do for the same work.  These modes are broken for small cities, and live only here.

-- name: global_table
-- One table of all cities' vectors, as most boxes keep them.
create table {table} (city_id int not null, chunk_id bigint not null, vector halfvec({dimension}) not null);

-- name: global_plain
-- A long vector in a row of its own, as in the product's partitions: only the index is compared.
alter table {table} alter column vector set storage plain;

-- name: global_fill
insert into {table} select city_id, chunk_id, vector from {vectors};

-- name: global_index
-- pgvector's defaults: m = 16, ef_construction = 64.
create index {index} on {table} using hnsw (vector halfvec_cosine_ops);

-- name: global_analyze
analyze {table};

-- name: global_search
select chunk_id from {table} where city_id = %(city)s order by vector <=> %(vector)s limit %(k)s;

-- name: text_table
create table {table} (chunk_id bigint not null, words text not null, tsv tsvector);

-- name: text_copy
copy {table} (chunk_id, words) from stdin;

-- name: text_vectors
update {table} set tsv = to_tsvector('english', words);

-- name: text_index
create index on {table} using gin (tsv);

-- name: text_search
-- Any of the question's words: all of them together are in no chunk for a third of plain questions.
select chunk_id from {table}, (
    select replace(plainto_tsquery('english', %(text)s)::text, '&', '|')::tsquery as query) q
where tsv @@ query
order by ts_rank_cd(tsv, query) desc
limit %(k)s;
