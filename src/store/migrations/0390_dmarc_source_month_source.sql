-- without a transaction: for create index concurrently
-- The page of an address asks for its mail in all domains of a workspace: through the primary key, that is a look-up
-- for each domain and month. No column of it is ever updated, so that rows are still updated in place.
drop index concurrently if exists dmarc_source_month_source;
create index concurrently dmarc_source_month_source on dmarc_source_month (source, domain_id);
