-- What stands over a chunk, where a hidden section begins in its record, and the order of a file.

-- Pairs of code points in document.body: the titles and the table's header that are repeated before
-- the chunk wherever it is read alone.
alter table chunk add column leads int[] not null default '{}' check (cardinality(leads) % 2 = 0);

-- A corpus record can hide dozens of sections, which all bear its external id: where this one's text
-- begins in the record's.  Offsets that leave the box count from the record's start.
alter table section add column inside int not null default 0;

-- Position in the corpus file: the order in which the law is read.
alter table document add column place int not null default 0;
