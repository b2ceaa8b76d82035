-- without a transaction: so that reports are stored while the index is created
drop index concurrently if exists dmarc_records_unindexed;
create index concurrently dmarc_records_unindexed on dmarc_records (report_id, part) where sources is null;
