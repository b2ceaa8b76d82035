-- The proof of a migration: what both servers hold, as it was read for the proof. One for each
-- migration, replaced by the next.
create table migration_proof (
  migration_id uuid primary key references migration on delete cascade,
  workspace_id uuid not null references workspace on delete cascade,
  level text not null check (level in ('headers', 'full')),
  state text not null check (state in ('waiting', 'running', 'done', 'failed')),
  -- Whether a result belongs to the last request.
  request uuid not null default gen_random_uuid(),
  requested_at timestamptz not null default now(),
  ended_at timestamptz,
  messages_read integer not null default 0,
  messages_total integer,
  error text,
  verdict text check (verdict in ('identical', 'complete', 'incomplete')),
  -- The exact bytes that are signed.
  document text
);
create index on migration_proof (workspace_id);
