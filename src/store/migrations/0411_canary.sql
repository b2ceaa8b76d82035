-- Mails to a person’s own mailboxes, through their own server: do they arrive in the inbox?
create table canary (
  id uuid primary key default uuid_v7(),
  workspace_id uuid not null references workspace on delete cascade,
  -- The author address of the mails, and its domain.
  sender text not null,
  domain text not null,
  host text not null,
  port integer not null check (port between 1 and 65535),
  -- TLS from the first byte; else STARTTLS.
  secure boolean not null,
  tls_verify boolean not null,
  username text not null,
  -- The password, encrypted.
  sealed text not null,
  every_hours integer not null check (every_hours between 1 and 24),
  enabled boolean not null default true,
  -- When the next mails are sent; null while it is off.
  due_at timestamptz default now(),
  -- Why the last mails could not be sent; null when they were.
  problem text,
  last_run_at timestamptz,
  created_at timestamptz not null default now()
);
create index on canary (workspace_id, domain);
create index on canary (due_at) where due_at is not null;

-- The mailboxes that the mails go to.
create table canary_seed (
  id uuid primary key default uuid_v7(),
  canary_id uuid not null references canary on delete cascade,
  workspace_id uuid not null references workspace on delete cascade,
  email text not null,
  provider text not null,
  host text not null,
  port integer not null check (port between 1 and 65535),
  secure boolean not null,
  tls_verify boolean not null,
  username text not null,
  -- The password, encrypted; null with a sign-in at the provider.
  sealed text,
  credential_id uuid references mail_credential on delete set null,
  -- Why the mailbox could not be read; null when it was.
  problem text,
  -- Whether mails land elsewhere than in the inbox, and whether nothing has been known for long.
  is_bad boolean not null default false,
  is_blind boolean not null default false,
  state_since timestamptz not null default now(),
  created_at timestamptz not null default now(),
  unique (canary_id, email)
);
create index on canary_seed (workspace_id);
create index on canary_seed (credential_id);

create table canary_result (
  id uuid primary key default uuid_v7(),
  canary_id uuid not null references canary on delete cascade,
  seed_id uuid not null references canary_seed on delete cascade,
  workspace_id uuid not null references workspace on delete cascade,
  -- In the Message-ID and a field of the mail.
  token text not null,
  sent_at timestamptz not null default now(),
  -- Whether the server of the sender accepted it; an instance may have ended before.
  is_submitted boolean not null default false,
  -- Null while the mail is looked for.
  outcome text
    check (outcome in ('inbox', 'category', 'junk', 'late', 'missing', 'refused', 'unknown')),
  -- The field by which the mailbox lets the sender through: then the outcome says nothing.
  void_reason text,
  folder text,
  delay_seconds integer,
  detail text,
  -- Whether it belongs to the time without a problem.
  is_baseline boolean not null default false,
  -- When the mail is looked for next; null once its outcome is known.
  due_at timestamptz,
  checks integer not null default 0
);
create index on canary_result (canary_id, sent_at);
create index on canary_result (seed_id, sent_at);
create index on canary_result (workspace_id);
create index on canary_result (sent_at);
create index on canary_result (due_at) where due_at is not null;
