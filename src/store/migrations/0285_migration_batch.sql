-- Many mailboxes that move together, such as those of a company.
create table migration_batch (
  id uuid primary key default uuid_v7(),
  workspace_id uuid not null references workspace on delete cascade,
  name text not null,
  -- How folders are mapped and messages copied, for all mailboxes.
  options jsonb not null,
  -- Mailboxes at once at one source host and at one destination host.
  source_limit integer not null,
  destination_limit integer not null,
  paused_at timestamptz,
  finished_at timestamptz,
  -- The last action of a person or result of a mailbox: passwords of abandoned batches are deleted.
  used_at timestamptz not null default now(),
  created_at timestamptz not null default now()
);
create index on migration_batch (workspace_id, id);

-- Migrations of a batch are listed with it. A paused one keeps its journal and is claimed by no worker.
alter table migration
  add column batch_id uuid references migration_batch on delete cascade,
  drop constraint migration_status_check,
  add constraint migration_status_check check (status in ('pending', 'running', 'paused', 'completed', 'failed'));
create index on migration (batch_id) where batch_id is not null;
create index migration_open on migration (id) where status in ('pending', 'running');

-- A line of the file: a mailbox and where it goes. Its passwords are in batch_mailbox_secret.
create table batch_mailbox (
  id uuid primary key default uuid_v7(),
  batch_id uuid not null references migration_batch on delete cascade,
  -- The line of the file that it was read from, and its place among the lines of all files.
  line integer not null,
  position bigint not null generated always as identity,
  state text not null
    check (state in ('invalid', 'ready', 'queued', 'syncing', 'in_sync', 'needs_attention', 'paused', 'done')),
  -- Host, port, security and user of each side; parts of an invalid line may be missing.
  source jsonb not null,
  destination jsonb not null,
  source_host text generated always as (lower(source ->> 'host')) stored,
  source_user text generated always as (lower(source ->> 'user')) stored,
  destination_host text generated always as (lower(destination ->> 'host')) stored,
  destination_user text generated always as (lower(destination ->> 'user')) stored,
  -- What was last queued.
  pass text not null default 'sync' check (pass in ('dry_run', 'sync')),
  -- Whether both sides have accepted the sign-in.
  verified boolean not null default false,
  -- Why it is invalid or needs attention: a code, the host that caused it, and a sentence.
  problem text,
  problem_host text,
  message text,
  warning text,
  dry_run_id uuid references migration on delete set null,
  migration_id uuid references migration on delete set null,
  -- The one of them that waits or runs now.
  active_id uuid references migration on delete set null,
  messages_done integer not null default 0,
  messages_total integer not null default 0,
  bytes_done bigint not null default 0,
  bytes_total bigint,
  messages_per_second real not null default 0,
  bytes_per_second bigint not null default 0,
  error_count integer not null default 0,
  passes integer not null default 0,
  queued_at timestamptz,
  synced_at timestamptz,
  changed_at timestamptz not null default now()
);
create index on batch_mailbox (batch_id, state);
create index on batch_mailbox (batch_id, position);
create unique index batch_mailbox_source on batch_mailbox (batch_id, source_host, source_user) where state <> 'invalid';
create index on batch_mailbox (queued_at) where state = 'queued' and active_id is null;
create index on batch_mailbox (active_id) where active_id is not null;
create index on batch_mailbox (migration_id);
create index on batch_mailbox (dry_run_id);

create table batch_mailbox_secret (
  mailbox_id uuid primary key references batch_mailbox on delete cascade,
  sealed text not null
);

-- Sign-ins in a row that a host has rejected. After some, mailboxes that were never signed in to wait.
create table batch_host (
  batch_id uuid not null references migration_batch on delete cascade,
  host text not null,
  rejections integer not null default 0,
  primary key (batch_id, host)
);
