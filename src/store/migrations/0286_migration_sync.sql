-- Which messages a migration copied, for later passes: packed records of the messages of a batch (copy-records.ts).
create table migration_copy (
  id bigint generated always as identity primary key,
  migration_id uuid not null references migration on delete cascade,
  folder text not null,
  -- The UIDVALIDITYs of both sides. Records of earlier ones are not read any more.
  epoch text not null,
  copies bytea not null
);
create index on migration_copy (migration_id, folder, id);

-- Copied messages that are no longer where they were at the source. Their copies stay, unless the person wants otherwise.
create table migration_deletion (
  id bigint generated always as identity primary key,
  migration_id uuid not null references migration on delete cascade,
  folder text not null,
  reason text not null check (reason in ('expunged', 'folder_gone', 'renumbered')),
  destination text not null,
  destination_uid_validity bigint,
  record bytea not null,
  recorded_at timestamptz not null default now(),
  outcome text check (outcome in ('moved', 'applied', 'absent')),
  closed_at timestamptz
);
create index on migration_deletion (migration_id, id);
create index on migration_deletion (migration_id) where outcome is null;

-- The standing synchronization of a mailbox: a pass again and again until it is ended.
create table migration_sync (
  migration_id uuid primary key references migration on delete cascade,
  workspace_id uuid not null references workspace on delete cascade,
  every_minutes integer not null,
  deletions text not null check (deletions in ('record', 'apply')),
  -- Null while it is held: a person has to act first.
  next_at timestamptz,
  -- Passwords are not kept for ever: it ends by itself.
  until timestamptz not null,
  -- A check of one instance has it until then.
  claimed_until timestamptz,
  -- A digest of what the source reported before the last pass; null makes the next pass a full one.
  seen text,
  passes integer not null default 0,
  -- The last pass, whether or not anything had changed, and what it found.
  last_started_at timestamptz,
  last_ended_at timestamptz,
  last_changes jsonb,
  last_error text,
  -- Whether the batch has not alerted to it yet.
  is_new_error boolean not null default false,
  -- Passes in a row that could not reach a server.
  failures integer not null default 0,
  created_at timestamptz not null default now()
);
create index on migration_sync (next_at) where next_at is not null;
create index on migration_sync (until);
create index on migration_sync (workspace_id);

-- Passes that changed something, newest last; old ones are removed.
create table migration_pass (
  id bigint generated always as identity primary key,
  migration_id uuid not null references migration on delete cascade,
  started_at timestamptz not null,
  ended_at timestamptz not null,
  changes jsonb not null,
  error text
);
create index on migration_pass (migration_id, id);

alter table migration_batch
  add column sync_minutes integer,
  add column sync_deletions text check (sync_deletions in ('record', 'apply')),
  add column sync_until timestamptz;

-- The last month that the mailbox counts for: a synchronization counts once in each month.
alter table migration add column counted_at timestamptz;
update migration set counted_at = created_at where counted;
alter table migration alter column counted_at set default now();
create index on migration (workspace_id, counted_at) where counted;
