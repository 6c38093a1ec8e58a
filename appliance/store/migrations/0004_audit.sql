-- The audit of cities: which of them may be searched, why, and who said otherwise.

-- What is loaded is not searched before it was audited; `audited_at` is null when rows have changed
-- since.  Cities of an older box are audited by the next `permitbox ingest` or `permitbox audit`.
alter table city
    add column state text not null default 'staged',  -- staged | live | limited | quarantined
    add column audited_at timestamptz;

-- Why records of a file were turned away when it was last read: {reason: how many}.
alter table corpus_file add column reasons jsonb not null default '{}';

-- The audit's own word on a city, whatever its state was set to.
create table audit (
    city_id          int primary key references city,
    verdict          text not null,
    coverage         text not null,             -- what is in the box of it and what is not
    reasons          text[] not null,
    fix              text                       -- the command that mends the worst of them
);

-- An admin's word against the audit.  Never deleted: one that was taken back has its day of ending.
create table audit_override (
    id               bigint generated always as identity primary key,
    city_id          int not null references city,
    state            text not null,
    because          text not null,
    who              text not null,
    verdict          text not null,             -- the audit's at that time: a worse one later is told
    made_at          timestamptz not null default now(),
    cleared_at       timestamptz
);
create unique index audit_override_standing on audit_override (city_id) where cleared_at is null;
