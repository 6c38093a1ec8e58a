-- The trail of answers belongs to who asked: what was asked and answered is sealed under a secret that only
-- the asker has.  In clear stays what an operator may count.

alter table answer
    add column owner     bytea,               -- digest of the asker's secret; null: of an older box
    add column sealed    bytea,               -- the JSON of the answer, its question included
    add column reason    text,                -- why the box abstained
    add column cache     text,                -- exact | semantic | null: made anew
    add column took_ms   real,
    -- Rows of an older box hold these until the next start, which seals them for the home's own user.
    alter column question drop not null,
    alter column payload drop not null,
    add check (sealed is null or (owner is not null and question is null and payload is null));
create index answer_owner on answer (owner, asked_at);
create index answer_unsealed on answer (id) where sealed is null;
