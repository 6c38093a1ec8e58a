-- The words of each chunk, so that a list of candidates is read without the bodies they are cut from:
-- one character of a law of two million characters costs as much as all of it.

create table chunk_text (
    chunk_id         bigint primary key references chunk on delete cascade,
    text             text not null,             -- the chunk's span of document.body
    titles           text[] not null,           -- the titles of subdivisions over it, in reading order
    header           text                       -- the header of a table that goes on in it
);

-- "offset 0" keeps the order of the loops: each body is read once, and all of its chunks are cut from it.
insert into chunk_text (chunk_id, text, titles, header)
select p.id, p.text, p.titles, p.header
from document d
cross join lateral (select d.body || '' as body offset 0) b
cross join lateral (
    select c.id,
           substr(b.body, c.span_start + 1, c.span_end - c.span_start) as text,
           array(select substr(b.body, c.titles[i] + 1, c.titles[i + 1] - c.titles[i])
                 from generate_series(1, cardinality(c.titles), 2) i order by i) as titles,
           substr(b.body, c.header[1] + 1, c.header[2] - c.header[1]) as header
    from chunk c where c.document_id = d.id
    offset 0
) p;
