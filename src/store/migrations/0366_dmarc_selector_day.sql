-- What a DKIM key signed, by the day on which the reports begin. Of reports that an earlier version
-- has stored, a job counts them.
create table dmarc_selector_day (
  domain_id uuid not null references dmarc_domain on delete cascade,
  day date not null,
  signer text not null,
  selector text not null,
  messages bigint not null,
  passed bigint not null,
  primary key (domain_id, day, signer, selector)
);
alter table dmarc_report add column selectors_by_day boolean not null default false;
