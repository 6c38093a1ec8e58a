-- Time: no version of a text is ever lost, enacted laws point at the sections that they change, and
-- the model's sentences hang on what they were made from instead of on rows that come and go.

-- A text that comes back word for word is a version of its own beside the earlier one.
alter table document drop constraint document_city_id_external_id_version_key;
create index document_versions on document (city_id, external_id);

alter table document
    add column superseded_by  text,                            -- what replaced it, if that is known
    add column dated_by_box   boolean not null default false,  -- effective_from is our first reading
    add column retired_at     timestamptz;                     -- when a later reading ended it

-- An unchanged section keeps its context when it is cut or read anew.
drop table context;
create table context (
    input            bytea not null,            -- sha256 of the embedding input of the chunk
    model            text not null,
    sentence         text not null,
    made_at          timestamptz not null default now(),
    primary key (input, model)
);

-- What an enacted law does to one section, or to one chapter, of a code; from the law's own clauses.
create table amendment (
    id               bigint generated always as identity primary key,
    city_id          int not null references city,
    law_id           bigint not null references document on delete cascade,
    law              text not null,             -- as it is cited
    kind             text not null check (kind in ('amended', 'added', 'renumbered', 'repealed')),
    number           text,                      -- of the section, normalised; null: a whole chapter
    within           text[] not null,           -- the chapter, outermost level first
    code             text[] not null,           -- words of the name of the code; empty: none named
    clause_start     int not null,              -- the words that do it: code points in the law
    clause_end       int not null,
    matter_start     int not null,              -- the new text
    matter_end       int not null,
    enacted          date,                      -- the day it became law
    effective        date,
    effective_start  int,                       -- the words that say from when
    effective_end    int,
    undated          text,                      -- why there is no effective day
    check ((effective is null) = (undated is not null)),
    check ((number is null) = (within <> '{}'))
);
create index amendment_city on amendment (city_id);
create index amendment_law on amendment (law_id);

-- The sections (of every version) whose text an amendment changes and does not hold yet.
create table amended_section (
    section_id       bigint not null references section on delete cascade,
    amendment_id     bigint not null references amendment on delete cascade,
    primary key (section_id, amendment_id)
);
create index amended_section_amendment on amended_section (amendment_id);
