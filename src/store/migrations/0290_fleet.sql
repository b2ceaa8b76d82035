-- The fleet list of a workspace: addresses that its servers reported, for all its servers to block.
create table fleet (
  workspace_id uuid primary key references workspace on delete cascade,
  -- The number of the last change. Numbers are given under the lock of this row, so that followers miss none.
  cursor bigint not null default 0,
  -- Changes up to this number were deleted.
  trimmed bigint not null default 0,
  -- Null for the default rules.
  rules jsonb,
  -- Whether CrowdSec bouncers also get the shared list.
  serves_shared boolean not null default false
);

-- An address that was reported or banned. It is kept for a month without a report, so that bans grow with repetition.
create table fleet_ban (
  id uuid primary key default uuid_v7(),
  workspace_id uuid not null references workspace on delete cascade,
  -- An IPv4 address or an IPv6 /64.
  address inet not null,
  -- Null while it is not banned.
  expires_at timestamptz,
  banned_at timestamptz,
  -- Length of the last ban, and how many there were.
  ban_seconds integer,
  bans integer not null default 0,
  -- The number of the change that banned it.
  change bigint not null default 0,
  -- The last reports: token, service, count, time.
  sightings jsonb not null default '[]',
  -- Written by the member who banned it.
  reason text not null default '',
  seen_at timestamptz not null default now(),
  unique (workspace_id, address)
);
create index on fleet_ban (expires_at) where expires_at is not null;
create index fleet_ban_active on fleet_ban (workspace_id, change) where expires_at is not null;
create index on fleet_ban (seen_at);

create table fleet_change (
  workspace_id uuid not null references workspace on delete cascade,
  number bigint not null,
  address inet not null,
  kind text not null check (kind in ('banned', 'extended', 'unbanned', 'expired')),
  expires_at timestamptz,
  -- Who or what caused it.
  cause jsonb not null,
  at timestamptz not null default now(),
  primary key (workspace_id, number)
);
create index on fleet_change (workspace_id, address, number);
create index on fleet_change (at);

-- Networks that are never banned.
create table fleet_allowed (
  id uuid primary key default uuid_v7(),
  workspace_id uuid not null references workspace on delete cascade,
  network cidr not null,
  label text not null default '',
  created_at timestamptz not null default now(),
  unique (workspace_id, network)
);

-- The addresses from which servers report or follow. They are never banned.
create table fleet_server (
  workspace_id uuid not null references workspace on delete cascade,
  address inet not null,
  token_id uuid references abuse_token on delete set null,
  reported_at timestamptz,
  followed_at timestamptz,
  -- The program that follows.
  client text not null default '',
  created_at timestamptz not null default now(),
  primary key (workspace_id, address)
);
create index on fleet_server (token_id);
create index on fleet_server (created_at);
