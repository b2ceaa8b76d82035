-- A domain whose reports somebody reads. Two accounts may have the same one: each has an address of its own.
create table dmarc_domain (
  id uuid primary key default uuid_v7(),
  account_id uuid not null references account on delete cascade,
  domain text not null,
  -- What stands before the @ of the address that receives its reports.
  mailbox text not null unique,
  -- What proves the domain when it is published.
  challenge text not null,
  verified_at timestamptz,
  verified_by text check (verified_by in ('txt', 'rua')),
  checked_at timestamptz,
  -- Since when the DNS no longer shows what proved it.
  unproven_since timestamptz,
  total_reports bigint not null default 0,
  total_tls_reports bigint not null default 0,
  -- Only counted: a failure report holds somebody's mail.
  total_failure_reports bigint not null default 0,
  last_report_at timestamptz,
  -- The day for which a rise of failures was told last.
  rise_told date,
  created_at timestamptz not null default now(),
  unique (account_id, domain)
) with (fillfactor = 80);
create index on dmarc_domain (domain);

-- Something that came through a door: a mail or a file, with as many reports as it holds.
create table dmarc_delivery (
  id uuid primary key,
  account_id uuid references account on delete cascade,
  via text not null check (via in ('smtp', 'upload', 'mailbox', 'import')),
  name text not null,
  peer inet,
  sender text,
  -- What SPF, DKIM and DMARC say of the mail; null until it was asked, and for files.
  authentication jsonb,
  -- The bytes as they came, for as long as they are kept.
  content bytea,
  received_at timestamptz not null
);
create index on dmarc_delivery (received_at);
create index on dmarc_delivery (account_id);
-- Archives are compressed already, and trying costs more than it saves.
alter table dmarc_delivery alter column content set storage external;

create table dmarc_report (
  id uuid primary key,
  domain_id uuid not null references dmarc_domain on delete cascade,
  delivery_id uuid references dmarc_delivery on delete set null,
  -- Equal for two copies of one report.
  key text not null,
  org_name text not null,
  report_id text not null,
  begins_at timestamptz not null,
  ends_at timestamptz not null,
  record_count integer not null,
  messages bigint not null,
  aligned bigint not null,
  -- Messages that were said to be from another domain: in the report, not in the statistics.
  outside bigint not null,
  -- All that is only shown.
  detail jsonb not null,
  received_at timestamptz not null,
  unique (domain_id, key)
);
create index on dmarc_report (domain_id, received_at desc, id desc);
create index on dmarc_report (delivery_id);
create index on dmarc_report (received_at);

-- The records of a report, so many together: they are shown as they are, and counted elsewhere.
create table dmarc_records (
  report_id uuid not null references dmarc_report on delete cascade,
  part integer not null,
  records json not null,
  primary key (report_id, part)
);

-- What one address sent in a domain's name on one day, over all reports.
create table dmarc_source_day (
  domain_id uuid not null references dmarc_domain on delete cascade,
  day date not null,
  source inet not null,
  messages bigint not null,
  -- By DKIM or SPF; then by each.
  aligned bigint not null,
  dkim bigint not null,
  spf bigint not null,
  -- Passed on by somebody else on the way.
  forwarded bigint not null,
  quarantined bigint not null,
  rejected bigint not null,
  touched_at timestamptz not null default now(),
  primary key (domain_id, day, source)
) with (fillfactor = 80);
create index on dmarc_source_day using brin (touched_at);

-- What one reporter saw on one day.
create table dmarc_reporter_day (
  domain_id uuid not null references dmarc_domain on delete cascade,
  day date not null,
  reporter text not null,
  reports bigint not null,
  messages bigint not null,
  aligned bigint not null,
  dkim bigint not null,
  spf bigint not null,
  forwarded bigint not null,
  quarantined bigint not null,
  rejected bigint not null,
  touched_at timestamptz not null default now(),
  primary key (domain_id, day, reporter)
) with (fillfactor = 80);

create table dmarc_selector (
  domain_id uuid not null references dmarc_domain on delete cascade,
  signer text not null,
  selector text not null,
  messages bigint not null,
  passed bigint not null,
  last_day date not null,
  primary key (domain_id, signer, selector)
);

-- What an address is called, whoever reports it.
create table dmarc_address (
  address inet primary key,
  reverse_name text,
  -- Whether the name leads back to the address: anybody may call an address anything.
  confirmed boolean not null default false,
  asked_at timestamptz
);
create index on dmarc_address (asked_at nulls first);

-- SMTP TLS reports (RFC 8460).
create table dmarc_tls_report (
  id uuid primary key,
  domain_id uuid not null references dmarc_domain on delete cascade,
  delivery_id uuid references dmarc_delivery on delete set null,
  key text not null,
  organization_name text not null,
  contact_info text,
  report_id text not null,
  begins_at timestamptz not null,
  ends_at timestamptz not null,
  successful bigint not null,
  failed bigint not null,
  policies jsonb not null,
  received_at timestamptz not null,
  unique (domain_id, key)
);
create index on dmarc_tls_report (domain_id, received_at desc, id desc);
create index on dmarc_tls_report (delivery_id);
create index on dmarc_tls_report (received_at);

-- What came and was not taken, and why.
create table dmarc_set_aside (
  id uuid primary key,
  account_id uuid not null references account on delete cascade,
  delivery_id uuid references dmarc_delivery on delete set null,
  name text not null,
  reason text not null,
  via text not null,
  received_at timestamptz not null
);
create index on dmarc_set_aside (account_id, received_at desc, id desc);
create index on dmarc_set_aside (delivery_id);
create index on dmarc_set_aside (received_at);

-- A mailbox in which reports lie, and how to open it.
create table dmarc_mailbox (
  id uuid primary key default uuid_v7(),
  account_id uuid not null references account on delete cascade,
  host text not null,
  port integer not null,
  secure boolean not null,
  tls_verify boolean not null,
  username text not null,
  sealed text not null,
  folder text not null,
  -- Where a message goes once its reports are stored; null: it is marked as seen and stays.
  move_to text,
  -- Every message up to here is dealt with; of another validity nothing is known.
  uid_validity bigint,
  last_uid bigint not null default 0,
  fetched_at timestamptz,
  total_messages bigint not null default 0,
  last_error text,
  failing_since timestamptz,
  created_at timestamptz not null default now()
);
create index on dmarc_mailbox (account_id, id);
