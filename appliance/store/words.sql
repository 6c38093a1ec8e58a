-- The words of a city: its inverted index, written and read.

-- name: searchable_chunks
-- What a city's document frequencies count: past versions too.
select id from chunk where city_id = %(city)s and searchable order by id;

-- name: chunk_words
-- What of each chunk is searched by words.
select c.id, s.path, s.heading, t.titles, t.text
from chunk c
join chunk_text t on t.chunk_id = c.id
join section s on s.id = c.section_id
where c.id = any(%(ids)s)
order by c.id;

-- name: all_postings
select p.term, p.base, p.entries
from posting p join city c on c.id = p.city_id
where p.city_id = %(city)s and c.words_version = %(version)s
order by p.term;

-- name: weighed
update city set words_version = %(version)s, weighed = %(weighed)s, average_length = %(average)s
where id = %(city)s;

-- name: stale_words
-- Cities whose postings another tokenizer made, the smallest first.
select id, slug, chunks from city c
where words_version is distinct from %(version)s
  and exists (select from chunk k where k.city_id = c.id and k.searchable)
order by chunks, id;

-- name: lock_words
-- Whoever loads the city holds its row already.
select words_version from city where id = %(city)s for update;

-- name: postings
select p.term, p.base, p.entries, c.weighed, c.average_length
from posting p cross join city c
where p.city_id = %(city)s and p.term = any(%(terms)s) and c.id = %(city)s;

-- name: frequencies
select p.term, p.documents
from posting p
where p.city_id = (select id from city where slug = %(city)s) and p.term = any(%(terms)s);

-- name: in_force
-- Which of these chunks, in this order, may be found.
select c.id, c.section_id
from unnest(%(ids)s::bigint[]) with ordinality x (id, place)
join chunk c on c.id = x.id
join document d on d.id = c.document_id
where (d.effective_from is null or d.effective_from <= %(as_of)s)
  and (d.effective_until is null or d.effective_until > %(as_of)s)
order by x.place
limit %(k)s;

-- name: chunks_of_sections
select id from chunk where section_id = any(%(only)s) and searchable;
