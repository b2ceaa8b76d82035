-- squawk-ignore-file disallowed-unique-constraint
-- The table is small.
-- The public id of the badge of a workspace; null while it has none.
alter table fleet add column badge_id uuid unique;
