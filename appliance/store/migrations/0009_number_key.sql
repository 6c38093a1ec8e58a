-- Numbers are looked up by their parts, whatever joins them: "28-105.9" and "28 105 9" are one.

-- The twin of appliance.corpus.references.number_key; numbers are stored in lower case.
create function number_key(number text) returns text
language sql immutable strict parallel safe
return trim(both '.' from regexp_replace(
    regexp_replace(number collate "C", '[^a-z0-9]+', '.', 'g'), '(^|\.)0+(?=[0-9])', '\1', 'g'));

create index section_label_key on section_label (city_id, (number_key(number) collate "C"));
