-- The mail path of the last whole check: [{"name", "state"}] in its order; null before the first.
alter table watched_domain add column stages jsonb;
