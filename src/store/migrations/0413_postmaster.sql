-- Google Postmaster Tools, which a person of the workspace lets this service read.
create table postmaster_access (
  workspace_id uuid primary key references workspace on delete cascade,
  -- The sign-in; null when it was deleted.
  credential_id uuid references mail_credential on delete set null,
  account text not null,
  -- When the statistics are fetched next; null when the access has ended.
  due_at timestamptz default now(),
  -- Fetches in a row that failed, and since when.
  failures integer not null default 0,
  failing_since timestamptz,
  problem text,
  -- Whether a person must sign in again.
  is_ended boolean not null default false,
  fetched_at timestamptz,
  created_at timestamptz not null default now()
);
create index on postmaster_access (due_at) where due_at is not null;
create index on postmaster_access (credential_id);

-- What Google says of a domain, and whether it says anything.
create table postmaster_domain (
  workspace_id uuid not null references workspace on delete cascade,
  domain text not null,
  state text not null check (state in ('available', 'no-access', 'failed')),
  problem text,
  -- The requirements for senders, and the domain that Google evaluated.
  compliance jsonb,
  compliance_at timestamptz,
  checked_at timestamptz not null default now(),
  primary key (workspace_id, domain)
);

-- Statistics of a day, as Google counts days. Null: no data.
create table postmaster_day (
  workspace_id uuid not null references workspace on delete cascade,
  domain text not null,
  day date not null,
  -- Shares are from 0 to 1.
  spam_rate double precision,
  spf_rate double precision,
  dkim_rate double precision,
  dmarc_rate double precision,
  tls_inbound_rate double precision,
  tls_outbound_rate double precision,
  error_rate double precision,
  error_count bigint,
  -- Counts by type and reason of the delivery error.
  errors jsonb not null default '[]',
  -- Spam rates by identifier of the feedback loop (Feedback-ID).
  loops jsonb not null default '[]',
  primary key (workspace_id, domain, day)
);
create index on postmaster_day (day);
