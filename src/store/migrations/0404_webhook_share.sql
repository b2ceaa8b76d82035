-- Links that show one captured request to everyone who has them.
create table webhook_share (
  id uuid primary key default uuid_v7(),
  endpoint_id uuid not null references webhook_endpoint on delete cascade,
  workspace_id uuid not null references workspace on delete cascade,
  request_id uuid not null,
  token text not null unique,
  -- Whether the body is shown, too.
  with_body boolean not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index on webhook_share (endpoint_id, id);
create index on webhook_share (workspace_id);
create index on webhook_share (expires_at);
