-- Time of the last report before a silence that an alert was raised about; null while reports arrive.
alter table dmarc_domain add column silent_since timestamptz;
-- When the senders of a domain were last compared with those it had before.
alter table dmarc_domain add column senders_checked_at timestamptz;

-- When the service watched for silence: the time without it does not count. One row.
create table dmarc_watch (
  id boolean primary key default true check (id),
  watched_since timestamptz not null default now(),
  last_pass_at timestamptz not null default now()
);
