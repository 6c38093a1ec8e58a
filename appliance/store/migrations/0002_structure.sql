-- What stands over a chunk, where a hidden section begins in its record, and the order of a file.

-- Code points in document.body, in pairs of start and end: the titles of subdivisions over the chunk,
-- which are searched with it, and the header of a table that goes on in it.
alter table chunk add column titles int[] not null default '{}' check (cardinality(titles) % 2 = 0);
alter table chunk add column header int[] not null default '{}' check (cardinality(header) in (0, 2));

-- A corpus record can hide dozens of sections, which all bear its external id: where this one's text
-- begins in the record's.  Offsets that leave the box count from the record's start.
alter table section add column inside int not null default 0;

-- Position in the corpus file: the order in which the law is read.
alter table document add column place int not null default 0;
