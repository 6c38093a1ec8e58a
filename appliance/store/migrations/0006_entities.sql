-- What sections name in a way that can be compared, to search by: districts, permits, sizes, fees.

create table entity (
    city_id          int not null,
    section_id       bigint not null references section on delete cascade,
    kind             text not null,             -- district | permit | dimension | fee | money | …
    value            text not null,             -- normalised: "R-1", "fence permit", "6"
    unit             text,                      -- "foot", "dollar per sqft"
    bound            text,                      -- min | max
    span_start       int not null,              -- code points in the section's own text
    span_end         int not null check (span_end > span_start)
);
create index entity_value on entity (city_id, kind, value);
create index entity_section on entity (section_id);
