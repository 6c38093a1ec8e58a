-- References as a graph: what the text of a section mentions and defines, and where that leads.

drop table reference;

-- What is written, from the text alone; it lives and dies with its section.
create table mention (
    id               bigint generated always as identity primary key,
    city_id          int not null,
    section_id       bigint not null references section on delete cascade,
    role             text not null check (role in ('cites', 'defines')),
    kind             text not null,             -- section | chapter | … | relative | ordinance | state | …
    unit             text not null,             -- what is named: section, chapter, …
    number           text not null,             -- normalised; of a definition, the term
    within           text[] not null default '{}'  -- unit, number, unit, number, …, the narrowest first
                     check (cardinality(within) % 2 = 0),
    law              text not null default '',  -- the name of the law as it is written there
    span_start       int not null,              -- code points in document.body
    span_end         int not null check (span_end > span_start)
);
create index mention_section on mention (section_id);
create index mention_city on mention (city_id);

-- A chapter, article or title that no record is the text of.
create table container (
    id               bigint generated always as identity primary key,
    city_id          int not null references city,
    path             text[] not null,           -- outermost first, its own step included
    unit             text,
    number           text,
    unique (city_id, path)
);

-- What the registry makes of it; all edges of a city are made anew when anything of the city has
-- changed.  No foreign keys to sections: until then an edge may lead to a version that was dropped,
-- and readers join.
create table edge (
    city_id          int not null references city,
    kind             text not null check (kind in ('contains', 'next', 'cites', 'defines')),
    from_section     bigint,
    from_container   bigint,
    to_section       bigint,
    to_container     bigint,
    mention_id       bigint references mention on delete cascade,
    unresolved       text,                      -- why a mention leads nowhere
    candidates       bigint[] not null default '{}',  -- the sections that it might mean
    check ((from_section is null) <> (from_container is null)),
    check (num_nonnulls(to_section, to_container) <= 1),
    check ((unresolved is null) or (kind = 'cites' and to_section is null and to_container is null))
);
create index edge_city on edge (city_id, kind);
create index edge_from on edge (from_section);
create index edge_to on edge (to_section);
create index edge_mention on edge (mention_id);

alter table city add column edges_ready boolean not null default false;
