-- Statements of `edges.py`: the graph of a city's sections.

-- name: unlinked_cities
-- Cities with rows that their edges do not know, the smallest first.
select c.id, c.slug, (select count(*) from mention m where m.city_id = c.id)
from city c
where not c.edges_ready and exists (select from section s where s.city_id = c.id)
order by 3, c.id;

-- name: registry_entries
-- The current sections of a city in reading order, with the tables that are captioned in them.
select s.id, s.external_id, s.document_id, s.citation, s.number, s.heading, s.path, s.standing,
       array(select distinct l.number from section_label l
             where l.section_id = s.id and l.kind = 'table' and l.weight <= %(captioned)s)
from section s join document d on d.id = s.document_id
where s.city_id = %(city)s and d.current
order by d.file, d.place, d.id, s.position;

-- name: city_mentions
select m.id, m.section_id, m.role, m.kind, m.unit, m.number, m.within, m.law, m.span_start, m.span_end
from mention m
join section s on s.id = m.section_id
join document d on d.id = s.document_id
where m.city_id = %(city)s and d.current
order by m.id;

-- name: city_name
select name from city where id = %(city)s for update;

-- name: drop_edges
delete from edge where city_id = %(city)s;

-- name: drop_containers
delete from container where city_id = %(city)s;

-- name: edges_are_ready
update city set edges_ready = true where id = %(city)s;

-- name: refs
-- Every mention of a city's current sections with what it leads to, and every section that an enacted
-- law amends, in reading order; of one section only those that it makes and those that lead to it.
select external_id, citation, target_id, target, text, kind, unresolved, start, stop, candidates, standing
from (
    select d.file, d.place, d.id, f.position, f.external_id, f.citation,
           coalesce(t.external_id, array_to_string(c.path, ' > ')) as target_id,
           coalesce(t.citation, c.path[cardinality(c.path)]) as target,
           substr(d.body, m.span_start + 1, m.span_end - m.span_start) as text,
           m.kind, e.unresolved,
           m.span_start - f.span_start + f.inside as start,
           m.span_end - f.span_start + f.inside as stop,
           array(select x.external_id from section x where x.id = any(e.candidates) order by x.id)
               as candidates,
           t.standing
    from edge e
    join mention m on m.id = e.mention_id
    join section f on f.id = e.from_section
    join document d on d.id = f.document_id
    left join section t on t.id = e.to_section
    left join container c on c.id = e.to_container
    where e.city_id = %(city)s and e.kind = 'cites'
      and (%(section)s::bigint[] is null
           or f.id = any(%(section)s::bigint[]) or t.id = any(%(section)s::bigint[]))
    union all
    select d.file, d.place, d.id, f.position, f.external_id, f.citation, t.external_id, t.citation,
           substr(d.body, a.clause_start + 1, a.clause_end - a.clause_start), 'amends', null,
           a.clause_start - f.span_start + f.inside, a.clause_end - f.span_start + f.inside,
           array[]::text[], t.standing
    from amendment a
    join amended_section x on x.amendment_id = a.id
    join section t on t.id = x.section_id
    join document held on held.id = t.document_id and held.current
    join document d on d.id = a.law_id
    join section f on f.document_id = d.id
        and f.span_start <= a.clause_start and a.clause_start < f.span_end
    where a.city_id = %(city)s
      and (%(section)s::bigint[] is null
           or f.id = any(%(section)s::bigint[]) or t.id = any(%(section)s::bigint[]))
) r
order by file, place, id, position, start;

-- name: sections_numbered
select distinct s.id
from section_label l
join section s on s.id = l.section_id
join document d on d.id = s.document_id
where s.city_id = %(city)s and l.kind = 'section' and l.number = %(number)s and l.weight <= 1
  and d.current;
