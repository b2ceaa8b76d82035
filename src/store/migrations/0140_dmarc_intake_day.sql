-- What came in as mail on each day (UTC), to hold report addresses, accounts and the installation to their limits. A scope is
-- a domain (its report address), an account, or the whole installation (the nil UUID).
create table dmarc_intake_day (
  scope_id uuid not null,
  day date not null,
  mails bigint not null default 0,
  bytes bigint not null default 0,
  -- What came out of archives, and the records of the reports: what reading and storing cost.
  unpacked_bytes bigint not null default 0,
  records bigint not null default 0,
  -- What was not taken, by why.
  unreadable bigint not null default 0,
  other_domain bigint not null default 0,
  over_limit bigint not null default 0,
  -- Rejected things of which a sample is kept.
  samples bigint not null default 0,
  primary key (scope_id, day)
);
create index on dmarc_intake_day (day);
