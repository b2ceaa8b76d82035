-- Orders names by the value of the numbers in them: mx2 comes before mx10. Numbers get ten digits.
create function natural_name(name text) returns text language sql immutable strict parallel safe
  return regexp_replace(regexp_replace(name, '(\d+)', '000000000\1', 'g'), '0+(\d{10})', '\1', 'g');
