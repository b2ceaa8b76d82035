-- Statistics are lowered when their reports are deleted, and need not know any more when they were touched.
alter table dmarc_source_day drop column touched_at;
alter table dmarc_reporter_day drop column touched_at;

-- What one address sent in a domain's name in one month: of a year it is a twelfth of the days to add up.
create table dmarc_source_month (
  domain_id uuid not null references dmarc_domain on delete cascade,
  -- Its first day.
  month date not null,
  source inet not null,
  first_day date not null,
  last_day date not null,
  messages bigint not null,
  aligned bigint not null,
  dkim bigint not null,
  spf bigint not null,
  forwarded bigint not null,
  quarantined bigint not null,
  rejected bigint not null,
  primary key (domain_id, month, source)
) with (fillfactor = 80);

insert into dmarc_source_month
select domain_id, date_trunc('month', day), source, min(day), max(day), sum(messages), sum(aligned), sum(dkim), sum(spf),
  sum(forwarded), sum(quarantined), sum(rejected)
from dmarc_source_day group by domain_id, date_trunc('month', day), source;
