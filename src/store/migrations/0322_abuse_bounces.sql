-- How far the operator’s mailbox with bounced abuse emails was read: one row.
create table abuse_bounce_mailbox (
  id boolean primary key default true check (id),
  -- User and server: another mailbox is read from its beginning.
  account text not null,
  uid_validity bigint,
  last_uid bigint not null default 0,
  read_at timestamptz,
  -- Why it could not be read last time; null when it was.
  problem text
);

-- Addresses that got no email because their server rejected one for good, as in abuse_mail_opt_out.
create table abuse_bounce (
  hash bytea primary key,
  bounced_at timestamptz not null
);
create index on abuse_bounce (bounced_at);
