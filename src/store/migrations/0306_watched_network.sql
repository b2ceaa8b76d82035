-- A network of a workspace, whose addresses are looked up in the attack list and in public feeds.
create table watched_network (
  id uuid primary key default uuid_v7(),
  workspace_id uuid not null references workspace on delete cascade,
  network cidr not null,
  label text not null default '',
  checked_at timestamptz,
  created_at timestamptz not null default now(),
  unique (workspace_id, network)
);
create index on watched_network (checked_at nulls first);

-- An address of it, or a part, that is on a list.
create table watched_finding (
  id uuid primary key default uuid_v7(),
  network_id uuid not null references watched_network on delete cascade,
  -- “shared” for the attack list, or the id of a public feed.
  list text not null,
  -- The entry of the list.
  entry cidr not null,
  found_at timestamptz not null default now(),
  resolved_at timestamptz
);
create unique index on watched_finding (network_id, list, entry) where resolved_at is null;
create index on watched_finding (network_id, found_at);
create index on watched_finding (resolved_at);
