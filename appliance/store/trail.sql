-- The trail of answers: see migrations/0012_answer_owner.sql.

-- name: keep_answer
insert into answer (city_id, as_of, asked_at, outcome, reason, cache, took_ms, owner, sealed)
select id, %(as_of)s, %(asked_at)s, %(outcome)s, %(reason)s, %(cache)s, %(took_ms)s, %(owner)s, %(sealed)s
from city where slug = %(city)s;

-- name: expire_answers
delete from answer where asked_at < now() - make_interval(days => %(days)s);

-- name: answers_of_owner
select a.id, c.slug, a.as_of, a.asked_at, a.outcome, a.sealed
from answer a join city c on c.id = a.city_id
where a.owner = %(owner)s and (%(id)s::uuid is null or a.id = %(id)s)
order by a.asked_at desc
limit %(limit)s;

-- name: forget_answers
delete from answer where owner = %(owner)s and (%(id)s::uuid is null or id = %(id)s);

-- name: answer_statistics
-- By city and day (of this machine's clock), what operators may know: no texts, and nobody's rows.
select c.slug, a.asked_at::date, a.outcome, a.reason, count(*),
       count(*) filter (where a.cache is not null),
       percentile_cont(0.5) within group (order by a.took_ms),
       percentile_cont(0.95) within group (order by a.took_ms)
from answer a join city c on c.id = a.city_id
where a.asked_at >= now() - make_interval(days => %(days)s)
group by 1, 2, 3, 4
order by 2 desc, 1, 3, 4;

-- name: unsealed_answers
select id, payload::text from answer where sealed is null
order by id limit 500 for update skip locked;

-- name: seal_answer
update answer set owner = %(owner)s, sealed = %(sealed)s, question = null, payload = null
where id = %(id)s;
