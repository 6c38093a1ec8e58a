-- The ground: cities, immutable document versions, the section registry, chunks, vectors, BM25
-- weights, contexts, references, jobs and the audit trail.  Forward only; never edited after release.

create extension if not exists vector;
create extension if not exists pg_trgm;

create table city (
    id               int generated always as identity primary key,
    slug             text not null unique,
    name             text not null,
    office           text,
    -- Kept beside the rows they sum up, in the same transactions, so that a page need not count.
    sections         bigint not null default 0,
    chunks           bigint not null default 0,  -- searchable ones
    encoded          bigint not null default 0,  -- of these, with a vector
    newest           date,
    topics           text[] not null default '{}',
    -- From `settled_from` until `settled_until` exactly one version of everything is in force, so that
    -- a search on a day between them needs no filter by date.
    settled_from     date,
    settled_until    date,
    lexical_ready    boolean not null default false,
    dense_ready      boolean not null default false,
    created_at       timestamptz not null default now()
);

-- A corpus file that was read to its end; the same content is not read again.
create table corpus_file (
    path             text not null,
    city             text not null default '',  -- the override it was read with
    digest           text not null,             -- sha256 of the bytes
    pipeline         text not null,             -- version of parser, chunker and tokenizer
    documents        int not null,
    rejected         int not null,
    read_at          timestamptz not null default now(),
    primary key (path, city)
);

create table document (
    id               bigint generated always as identity primary key,
    city_id          int not null references city,
    external_id      text not null,
    version          text not null,             -- digest of everything below and of the sections
    digest           text not null,             -- sha256 of the body
    kind             text not null,
    title            text not null,
    body             text not null,
    url              text,
    publisher        text,
    fetched_at       timestamptz,
    effective_from   date,
    effective_until  date,
    file             text not null,             -- the corpus file that brought it
    pipeline         text not null,
    current          boolean not null default true,
    stored_at        timestamptz not null default now(),
    unique (city_id, external_id, version)
);
create unique index document_current on document (city_id, external_id) where current;
create index document_file on document (file) where current;

create table section (
    id               bigint generated always as identity primary key,
    city_id          int not null references city,
    document_id      bigint not null references document on delete cascade,
    position         int not null,              -- in the document
    parent           int,                       -- position of the parent
    external_id      text not null,
    citation         text not null,
    number           text,
    heading          text not null,
    path             text[] not null,
    span_start       int not null,              -- code points in document.body
    span_end         int not null check (span_end >= span_start),
    standing         text not null,
    crumb            text not null,             -- the breadcrumb as it is embedded
    unique (document_id, position)
);
create index section_external on section (city_id, external_id);

-- Every name under which a section can be looked up.
create table section_label (
    city_id          int not null,
    kind             text not null,             -- section | table | chapter | … | whole
    number           text not null,             -- normalised
    weight           smallint not null,         -- 0: its own number; higher: less its own
    section_id       bigint not null references section on delete cascade
);
create index section_label_number on section_label (number, kind, city_id);
create index section_label_section on section_label (section_id);

create table chunk (
    id               bigint generated always as identity primary key,
    city_id          int not null,
    document_id      bigint not null references document on delete cascade,
    section_id       bigint not null references section on delete cascade,
    ordinal          int not null,
    span_start       int not null,              -- code points in document.body
    span_end         int not null check (span_end > span_start),
    kind             text not null,
    tokens           int not null,
    input            bytea not null,            -- sha256 of the embedding input
    searchable       boolean not null,          -- false for repealed and reserved stubs
    unique (section_id, ordinal)
);
create index chunk_city on chunk (city_id) where searchable;
create index chunk_document on chunk (document_id);

-- The model's sentence on a chunk never sits in the chunk's text.
create table context (
    chunk_id         bigint not null references chunk on delete cascade,
    model            text not null,
    sentence         text not null,
    made_at          timestamptz not null default now(),
    primary key (chunk_id, model)
);

create table reference (
    section_id       bigint not null references section on delete cascade,
    kind             text not null,             -- cites | amends | defines | …
    number           text not null,
    span_start       int not null,
    span_end         int not null,
    target_id        bigint references section on delete cascade,
    unresolved       text                       -- why there is no target
);
create index reference_section on reference (section_id);

-- BM25: the document's side of the product, sum over terms of tf(k1+1)/(tf+k1(1-b+b*len/avglen)),
-- is stored; the query's side is the idf.  One partition a city, built beside and swapped in.
create table chunk_lexical (
    city_id          int not null,
    chunk_id         bigint not null,
    weights          sparsevec(1000000000) not null
) partition by list (city_id);
alter table chunk_lexical alter column weights set storage plain;

create table term_stat (
    city_id          int not null,
    term             int not null,              -- hash of the stem, the index in `weights`
    documents        int not null,              -- chunks of the city that hold it
    primary key (city_id, term)
);

-- One vector per distinct embedding input and model: what is computed once stays computed.
create table embedding_model (
    id               int generated always as identity primary key,
    name             text not null unique,
    dimension        int not null check (dimension between 1 and 4000),
    made_at          timestamptz not null default now()
);

-- A function, as the tables of a model carry its dimension: vectors of two models cannot mix.
create function make_model_tables(model int, dimension int) returns void language plpgsql as $$
begin
    execute format(
        'create table if not exists embedding_m%s (
             input bytea primary key,
             vector halfvec(%s) not null check (l2_norm(vector) > 0))', model, dimension);
    execute format('alter table embedding_m%s alter column vector set storage plain', model);
    execute format(
        'create table if not exists chunk_embedding_m%s (
             city_id int not null,
             chunk_id bigint not null,
             vector halfvec(%s) not null check (l2_norm(vector) > 0))
         partition by list (city_id)', model, dimension);
    execute format('alter table chunk_embedding_m%s alter column vector set storage plain', model);
end $$;

create sequence generation;  -- names partitions that are built beside the old ones

create table job (
    id               bigint generated always as identity primary key,
    kind             text not null,             -- ingest | encode
    city_id          int references city,
    done             bigint not null default 0,
    total            bigint not null default 0,
    rate             real,                      -- units a second
    state            text not null default 'running',  -- running | done | stopped
    started_at       timestamptz not null default now(),
    updated_at       timestamptz not null default now()
);

create table answer (
    id               uuid primary key default gen_random_uuid(),
    city_id          int not null references city,
    question         text not null,
    as_of            date not null,
    asked_at         timestamptz not null,
    outcome          text not null,
    payload          jsonb not null
);
create index answer_asked on answer (asked_at);
