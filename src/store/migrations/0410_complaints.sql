-- Where a workspace receives complaint mails (ARF, RFC 5965).
create table complaint_address (
  workspace_id uuid primary key references workspace on delete cascade,
  -- Its local part.
  mailbox text not null unique,
  -- Mails that were no complaints, and the latest one: a provider asks for confirmations.
  other_mails integer not null default 0,
  other_from text,
  other_subject text,
  other_at timestamptz,
  created_at timestamptz not null default now()
);

-- What the header of a complaint says; never the mail, nor who complained.
create table complaint (
  id uuid primary key default uuid_v7(),
  workspace_id uuid not null references workspace on delete cascade,
  -- The SHA-256 hash of the mail: a repeated delivery counts once.
  fingerprint bytea not null,
  -- The feedback loop, or the registered domain that reports; null for a mail without an author.
  provider text,
  -- Whether the report was authenticated as mail of that domain.
  is_verified boolean not null,
  type text not null,
  incidents integer not null check (incidents between 1 and 1000),
  -- The author domain of the mail that was complained about, and the address that sent it.
  domain text,
  source inet,
  campaign_kind text check (campaign_kind in ('list', 'feedback-id', 'campaign', 'subject')),
  campaign text,
  -- A keyed hash.
  recipient bytea,
  received_at timestamptz not null default now(),
  unique (workspace_id, fingerprint)
);
create index on complaint (workspace_id, received_at);
create index on complaint (received_at);

-- Domains whose spam rate at a provider is above a limit.
create table spam_rate_alert (
  workspace_id uuid not null references workspace on delete cascade,
  domain text not null,
  provider text not null,
  level text not null check (level in ('raised', 'high')),
  since timestamptz not null default now(),
  -- When the rate was last known.
  known_at timestamptz not null default now(),
  primary key (workspace_id, domain, provider)
);
create index on spam_rate_alert (known_at);
