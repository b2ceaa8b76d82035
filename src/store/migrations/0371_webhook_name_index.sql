-- without a transaction: for create index concurrently
-- Captures update endpoints in place, because they change no column of an index.
drop index concurrently if exists webhook_endpoint_name;
create unique index concurrently webhook_endpoint_name on webhook_endpoint (name) where name is not null;
