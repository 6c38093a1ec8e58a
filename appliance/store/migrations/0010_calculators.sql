-- Calculators: rules of the law as data, proposed by the builder, approved by a person.

create table calculator (
    id               bigint generated always as identity primary key,
    city_id          int not null references city,
    external_id      text not null,             -- of the record that the rule stands in
    title            text not null,
    form             jsonb not null,            -- the calculator, with the words of the law that it stands on
    digest           text not null,             -- of what it computes and quotes: proposed once
    state            text not null default 'proposed'
                     check (state in ('proposed', 'approved', 'rejected', 'disabled')),
    because          text,                      -- why it is disabled
    proposed_at      timestamptz not null default now(),
    decided_by       text,                      -- who approved or rejected it
    decided_at       timestamptz,
    unique (city_id, digest),
    check ((state = 'disabled') = (because is not null))
);
create index calculator_city on calculator (city_id, state);
