-- Labels of the objects that alerts are about, for alert rules and filters.
alter table monitored_host add column labels text[] not null default '{}';
alter table watched_domain add column labels text[] not null default '{}';
alter table dmarc_domain add column labels text[] not null default '{}';
alter table webhook_endpoint add column labels text[] not null default '{}';
