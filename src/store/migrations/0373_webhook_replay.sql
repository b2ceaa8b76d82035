-- Sends captured requests to a destination again, page by page, so that a long one neither fills the queue nor loses its place.
create table webhook_replay (
  id uuid primary key default uuid_v7(),
  endpoint_id uuid not null references webhook_endpoint on delete cascade,
  workspace_id uuid not null references workspace on delete cascade,
  destination_id uuid not null references webhook_destination on delete cascade,
  -- The requests: these, or those of a time whose last delivery is in one of these states.
  request_ids uuid[],
  since timestamptz,
  until timestamptz,
  states text[],
  conditions jsonb not null default '{}',
  per_minute integer not null default 600 check (per_minute between 1 and 60000),
  state text not null default 'running' check (state in ('running', 'done', 'cancelled')),
  -- Requests up to this number were compared, out of those up to another.
  cursor bigint not null default 0,
  up_to bigint not null,
  total integer not null,
  compared integer not null default 0,
  queued integer not null default 0,
  due_at timestamptz not null default now(),
  claimed_until timestamptz,
  claims bigint not null default 0,
  created_at timestamptz not null default now(),
  ended_at timestamptz
);
create index on webhook_replay (endpoint_id, id);
create index on webhook_replay (workspace_id);
create index on webhook_replay (destination_id);
create index webhook_replay_due on webhook_replay (due_at) where state = 'running';
