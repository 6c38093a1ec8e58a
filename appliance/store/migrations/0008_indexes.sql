-- BM25 from an inverted index instead of a scan of all chunks, and what is known of each city's vectors.

drop table chunk_lexical;
drop table term_stat;

-- One row per term of a city: which of its chunks hold it.  Made from the chunks' words at the first
-- start after this migration, and then whenever the city's rows change; swapped in whole.
create table posting (
    city_id          int not null,
    term             text collate "C" not null,
    documents        int not null,              -- chunks of the city that hold it
    base             bigint not null,           -- the entries count their chunks' ids from here
    -- 8 bytes a chunk, ascending by id, little-endian: id - base (4), occurrences of the term in the
    -- chunk (2), terms of the chunk in all (2).  Not the weight itself: that changes with the mean
    -- length of all chunks, and so with every new one.
    entries          bytea not null,
    primary key (city_id, term)
) partition by list (city_id);
-- A long row is read whole or not at all; unpacking it would take longer than reading it.
alter table posting alter column entries set storage external;

alter table city
    add column words_version  int,                          -- of the tokenizer; null: no postings yet
    add column weighed        int not null default 0,       -- N of BM25: searchable chunks, past ones too
    add column average_length double precision not null default 1;

-- What the partition of a city's vectors is; a city without a row has one of an older box.
create table dense_index (
    vectors          text not null,             -- the partitioned table of the model
    city_id          int not null references city,
    rows             bigint not null,
    hnsw             text,                      -- the name of the index; null: scanned exactly
    primary key (vectors, city_id)
);
