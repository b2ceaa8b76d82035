-- A domain whose picture a workspace keeps.
create table watched_domain (
  id uuid primary key default uuid_v7(),
  workspace_id uuid not null references workspace on delete cascade,
  domain text not null,
  -- Its mail servers when it was last checked: their events belong to its history.
  hosts text[] not null default '{}',
  -- Records by `name type`: {"values": [...], "suspect": [...] or null}. A change counts when it was seen twice.
  records jsonb not null default '{}',
  records_at timestamptz,
  -- The verdict of its last whole check; null before the first.
  state text check (state in ('good', 'warning', 'bad', 'unknown')),
  sentence text,
  checked_at timestamptz,
  created_at timestamptz not null default now(),
  unique (workspace_id, domain)
);
create index on watched_domain (records_at nulls first);

-- A change of a record of a watched domain.
create table domain_event (
  id bigint generated always as identity primary key,
  domain_id uuid not null references watched_domain on delete cascade,
  at timestamptz not null,
  name text not null,
  type text not null,
  before text[] not null,
  after text[] not null
);
create index on domain_event (domain_id, id);
create index on domain_event (at);
