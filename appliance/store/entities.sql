-- Entities as a filter of every search.

-- name: sections_having
-- The sections of a city that hold all of the wanted entities.  Whoever asks for an amount of money
-- also means the fees among them.
select e.section_id
from unnest(%(kinds)s::text[], %(values)s::text[], %(units)s::text[])
     with ordinality wanted (kind, value, unit, place)
join entity e
  on e.city_id = (select id from city where slug = %(city)s)
 and (e.kind = wanted.kind or (wanted.kind = 'money' and e.kind = 'fee'))
 and e.value = wanted.value
 and (wanted.unit is null or e.unit = wanted.unit)
group by e.section_id
having count(distinct wanted.place) = %(count)s;
