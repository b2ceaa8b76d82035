-- A name or an address that is watched.
create table monitored_host (
  id uuid primary key default uuid_v7(),
  account_id uuid not null references account on delete cascade,
  host text not null,
  label text not null default '',
  -- What a listing there means here, by zone of the blacklist: alert, watch or mute. Others follow the account's choice.
  lists jsonb not null default '{}',
  -- Ports whose certificate is watched.
  tls_ports integer[] not null default '{}',
  dns_records boolean not null default true,
  status text not null default 'pending' check (status in ('pending', 'clean', 'listed', 'unknown')),
  listed_count integer not null default 0,
  unknown_count integer not null default 0,
  total_checked integer not null default 0,
  -- Why the last look could not tell; null when it could.
  detail text,
  created_at timestamptz not null default now(),
  last_check_at timestamptz,
  -- When the grave lists, all lists, and certificates and records are to be looked at; and what was suspected last time.
  grave_due_at timestamptz not null default now(),
  full_due_at timestamptz not null default now(),
  side_due_at timestamptz not null default now(),
  recheck_at timestamptz,
  due_at timestamptz not null generated always as (least(grave_due_at, full_due_at, side_due_at, recheck_at)) stored,
  -- Whoever looks at it has it until then; run grows with each, and what an earlier one still writes is refused.
  claimed_until timestamptz,
  run integer not null default 0,
  unique (account_id, host)
);
create index on monitored_host (due_at);

-- What the account chose for a blacklist, for all its hosts.
create table monitored_list (
  account_id uuid not null references account on delete cascade,
  zone text not null,
  mode text not null check (mode in ('alert', 'watch', 'mute')),
  primary key (account_id, zone)
);

-- An address of a host. `seen`: zones that have told about it once: from then on, another answer is a change.
create table monitored_address (
  host_id uuid not null references monitored_host on delete cascade,
  ip text not null,
  seen text[] not null,
  -- Zones that could not be asked the last time.
  unknown text[] not null default '{}',
  -- When the host's name last led here.
  last_seen_at timestamptz not null,
  primary key (host_id, ip)
);

-- What is known of a host, as far as it was told twice; and what was seen once that differs from it. A listing that is
-- not there and not suspected has no row. Subjects: `192.0.2.1 zen.example` (blacklist), `443` (certificate),
-- `example.com MX` (dns).
create table monitored_fact (
  host_id uuid not null references monitored_host on delete cascade,
  kind text not null check (kind in ('blacklist', 'certificate', 'dns')),
  subject text not null,
  state text not null,
  detail jsonb not null,
  since timestamptz not null,
  suspect text,
  suspect_at timestamptz,
  primary key (host_id, kind, subject)
);
create index on monitored_fact (subject) where kind = 'blacklist';

-- Every change of a fact.
create table monitored_event (
  id bigint generated always as identity primary key,
  host_id uuid not null references monitored_host on delete cascade,
  at timestamptz not null,
  kind text not null,
  name text not null,
  dnsbl text,
  ip text,
  from_state text not null,
  to_state text not null,
  codes text[] not null default '{}',
  reason text,
  -- It was so when we first looked.
  baseline boolean not null default false
);
create index on monitored_event (host_id, id);

-- When a host began to be clean or listed on critical and major lists, or we ceased to know; until the next of its rows.
create table monitored_period (
  host_id uuid not null references monitored_host on delete cascade,
  began_at timestamptz not null,
  state text not null check (state in ('clean', 'listed', 'unknown')),
  primary key (host_id, began_at)
);
