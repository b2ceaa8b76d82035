-- A mailbox on its way from one IMAP server to another. The row is the truth: a browser or a worker that comes back
-- goes on from it.
create table migration (
  id uuid primary key default uuid_v7(),
  account_id uuid not null references account on delete cascade,
  status text not null default 'pending' check (status in ('pending', 'running', 'completed', 'failed')),
  -- Host, port, user and how to connect; what opens the account is in migration_secret.
  source jsonb not null,
  destination jsonb not null,
  dest_prefix text not null default '',
  folders text[] not null,
  options jsonb not null,
  progress jsonb not null,
  error_count integer not null default 0,
  -- Counts for the month of created_at.
  counted boolean not null,
  -- Grows with every worker that takes it: what an earlier one still writes is refused.
  run integer not null default 0,
  -- When its worker last showed that it lives; null when it has none.
  alive_at timestamptz,
  created_at timestamptz not null default now(),
  queued_at timestamptz not null default now(),
  started_at timestamptz,
  completed_at timestamptz
);
create index on migration (account_id, created_at);
create index on migration (queued_at, id) where status = 'pending';

-- Passwords and tokens, sealed; the row goes when the migration ends.
create table migration_secret (
  migration_id uuid primary key references migration on delete cascade,
  sealed text not null
);

-- The journal: one small row for each folder, however many messages it has.
create table migration_folder (
  migration_id uuid not null references migration on delete cascade,
  folder text not null,
  state jsonb not null,
  primary key (migration_id, folder)
);

create table migration_error (
  id bigint generated always as identity primary key,
  migration_id uuid not null references migration on delete cascade,
  folder text not null,
  uid bigint,
  message_id text,
  size bigint,
  code text not null,
  message text not null,
  attempts integer not null
);
create index on migration_error (migration_id, id);
