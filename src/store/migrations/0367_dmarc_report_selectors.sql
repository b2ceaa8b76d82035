-- without a transaction: dmarc_report may have millions of rows
drop index concurrently if exists dmarc_report_selectors;
create index concurrently dmarc_report_selectors on dmarc_report (id) where not selectors_by_day;
