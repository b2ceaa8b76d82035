-- A public feed that the operator has enabled, or had. The catalogue is in data/public-feeds.json.
create table public_feed (
  id text primary key,
  enabled boolean not null default false,
  -- The version in use, encoded (abuse/networks/encode-set.ts), with the time when each network was first seen.
  networks bytea,
  network_count integer not null default 0,
  -- Networks that were left out, because they are private or reserved.
  skipped_count integer not null default 0,
  -- Hash of the files of the version in use.
  hash bytea,
  -- When it was first downloaded, and when its provider last confirmed it.
  changed_at timestamptz,
  confirmed_at timestamptz,
  -- Validators for conditional requests, by URL.
  validators jsonb not null default '{}',
  -- What is wrong with the latest version, which is then not used.
  problem text check (problem in ('shrunk', 'grown', 'malformed', 'unreachable', 'outdated')),
  problem_text text not null default '',
  problem_at timestamptz,
  -- A version that shrank or grew, which an administrator may accept.
  held_networks bytea,
  held_count integer,
  held_skipped_count integer,
  held_hash bytea,
  checked_at timestamptz,
  due_at timestamptz not null default now(),
  claimed_until timestamptz,
  failures integer not null default 0
);

-- The feeds that the list of a workspace contains.
alter table fleet add column feeds text[] not null default '{}';
