-- Answers made before, by digests of what was asked, and a version of each city's law that changes with it.

-- Set anew by the first change of a transaction; "" until there was one after this migration.
alter table city add column corpus text not null default '';

-- By statement, so that a file of thousands of rows costs one update of the city.
create function note_city_change() returns trigger language plpgsql as $$
begin
    update city set corpus = concat_ws('@', pg_current_xact_id()::text, transaction_timestamp()::text)
    where id in (select city_id from changed)
      and corpus <> concat_ws('@', pg_current_xact_id()::text, transaction_timestamp()::text); return null; end $$;

create trigger document_inserted after insert on document
    referencing new table as changed for each statement execute function note_city_change();
create trigger document_updated after update on document
    referencing new table as changed for each statement execute function note_city_change();
create trigger document_deleted after delete on document
    referencing old table as changed for each statement execute function note_city_change();
create trigger section_inserted after insert on section
    referencing new table as changed for each statement execute function note_city_change();
create trigger section_updated after update on section
    referencing new table as changed for each statement execute function note_city_change();
create trigger section_deleted after delete on section
    referencing old table as changed for each statement execute function note_city_change();
create trigger amendment_inserted after insert on amendment
    referencing new table as changed for each statement execute function note_city_change();
create trigger amendment_updated after update on amendment
    referencing new table as changed for each statement execute function note_city_change();
create trigger amendment_deleted after delete on amendment
    referencing old table as changed for each statement execute function note_city_change();

-- No text is in it: keys are digests, and the answer is sealed under the question's own words.
create table cached_answer (
    exact            bytea primary key,         -- of the words, the city, the day, the version of the box
    semantic         bytea,                     -- of the meaning in place of the words
    corpus           text not null,             -- the version of the city's law that it was made from
    city_id          int not null references city on delete cascade,
    sealed           bytea not null,
    kept_at          timestamptz not null default now()
);
create index cached_answer_semantic on cached_answer (semantic);
create index cached_answer_city on cached_answer (city_id, kept_at);
