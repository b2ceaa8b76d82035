-- Policies of a TLS report that name no domain: the others are stored, and these are counted.
alter table dmarc_tls_report add column skipped_policies integer not null default 0;
