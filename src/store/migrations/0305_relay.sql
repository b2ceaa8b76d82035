-- A service that gets the reports of a workspace, too, with the credentials of the workspace there.
create table relay (
  id uuid primary key default uuid_v7(),
  workspace_id uuid not null references workspace on delete cascade,
  service text not null check (service in ('abuseipdb', 'blocklist-de', 'dshield')),
  enabled boolean not null default true,
  -- The name of the account at the service, where it needs one beside the key.
  account text not null default '',
  -- The key, encrypted.
  sealed text not null,
  last_four text not null,
  -- Why nothing is sent until the settings change.
  problem text,
  -- As the service asked, or until its limit of a day is over.
  paused_until timestamptz,
  -- Reports that did not fit into the queue.
  dropped bigint not null default 0,
  served_at timestamptz,
  claimed_until timestamptz,
  created_at timestamptz not null default now(),
  unique (workspace_id, service)
);

-- A report for one of these services: what the reporter sent, and nothing more.
create table relayed_report (
  id uuid primary key default uuid_v7(),
  relay_id uuid not null references relay on delete cascade,
  address inet not null,
  services text[] not null,
  port integer,
  count integer not null,
  reported_at timestamptz not null,
  state text not null default 'waiting'
    check (state in ('waiting', 'sending', 'sent', 'rejected', 'uncertain')),
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  -- The service may have it from then on, so that it is not sent again after a crash.
  handed_over_at timestamptz,
  ended_at timestamptz,
  -- Why it was rejected, or why it waits.
  reason text not null default '',
  created_at timestamptz not null default now()
);
-- Reports of an address that wait become one.
create unique index on relayed_report (relay_id, address) where state = 'waiting';
create index on relayed_report (relay_id, due_at) where state = 'waiting';
create index on relayed_report (relay_id) where state = 'sending';
create index on relayed_report (relay_id, address, ended_at) where ended_at is not null;
create index on relayed_report (relay_id, ended_at) where ended_at is not null;
create index on relayed_report (ended_at);
