-- What is known of an address: IPv4 whole, IPv6 by /64. The evidence is what the score is computed from.
create table abuse_address (
  address inet primary key check (masklen(address) = case family(address) when 4 then 32 else 64 end),
  state text not null check (state in ('observed', 'watchlist', 'listed', 'delisted', 'whitelisted')),
  score real not null,
  confidence text not null check (confidence in ('none', 'low', 'medium', 'high', 'very-high')),
  -- An array for each network and service, in the order of store.ts. Never searched in: json is kept as it came.
  evidence json not null,
  services text[] not null,
  networks integer not null,
  total_reports integer not null,
  first_reported_at timestamptz not null,
  last_reported_at timestamptz not null,
  -- When time alone may change the state of what is listed or watched; null of others.
  due_at timestamptz,
  -- Until then it takes more to be listed, because an appeal was granted.
  probation_until timestamptz,
  -- Many people behind one address: never exported.
  shared boolean not null default false,
  published boolean not null default false,
  -- Grows with every write but of "published": who read an older one must read again.
  revision integer not null
) with (fillfactor = 80);
create index abuse_address_due on abuse_address (state, due_at) where state in ('listed', 'watchlist');
create index abuse_address_published on abuse_address (address) where published;
create index abuse_address_unpublished on abuse_address (address)
  where (state = 'listed' and not shared) is distinct from published;

-- Every accepted report, for thirty days: a partition a day, dropped whole. Networks are keyed pseudonyms.
create table abuse_report (
  at timestamptz not null,
  address inet not null,
  service text not null,
  port integer,
  count integer not null,
  network text not null,
  origin text not null,
  -- By a network whose word counts.
  strong boolean not null,
  -- False: the same was reported a moment before, and this one only says that another network saw it too.
  counted boolean not null,
  -- Before the address was on the list: only such a report can be confirmed by others.
  early boolean not null,
  token_id uuid
) partition by range (at);
create index on abuse_report (token_id, address) where token_id is not null;

-- Requests of a source in its current window. The source is a keyed pseudonym.
create table abuse_rate (
  source text primary key,
  started_at timestamptz not null,
  used integer not null
) with (fillfactor = 80);
create index on abuse_rate (started_at);

-- A network that reports, and how much its word counts.
create table abuse_network (
  network text primary key,
  origin text not null,
  standing text not null default 'new' check (standing in ('new', 'established', 'trusted')),
  first_seen_at timestamptz not null,
  last_seen_at timestamptz not null,
  established_at timestamptz
);
create index on abuse_network (last_seen_at);
create index on abuse_network (standing) where standing <> 'new';

-- A report that turned out wrong: of a whitelisted address, or of one whose appeal was upheld.
create table abuse_refutation (
  network text not null,
  address inet not null,
  cause text not null check (cause in ('whitelist', 'canary', 'appeal')),
  at timestamptz not null,
  primary key (network, address)
);
create index on abuse_refutation (at);

-- What the administrators say of ranges. whitelist: never listed. canary: never listed, and looks as if it could be.
-- shared: many people behind one address. sensor: the operator's own, whose word counts from the start.
create table abuse_range (
  id uuid primary key default uuid_v7(),
  kind text not null check (kind in ('whitelist', 'canary', 'shared', 'sensor')),
  cidr cidr not null,
  label text not null default '',
  created_at timestamptz not null default now(),
  unique (kind, cidr)
);

create table abuse_token (
  id uuid primary key default uuid_v7(),
  account_id uuid not null references account on delete cascade,
  label text not null default '',
  hash bytea not null unique,
  last_four text not null,
  created_at timestamptz not null default now()
);
create index on abuse_token (account_id, id);

create table abuse_token_count (
  token_id uuid not null references abuse_token on delete cascade,
  day date not null,
  service text not null,
  reports bigint not null,
  primary key (token_id, day, service)
);

-- Accepted reports by hour, after eight days by day. Each instance counts in a lane of its own, so that none waits.
create table abuse_count (
  hour timestamptz not null,
  service text not null,
  lane integer not null,
  reports bigint not null,
  primary key (hour, service, lane)
) with (fillfactor = 80);

create table abuse_appeal (
  id uuid primary key default uuid_v7(),
  address inet not null,
  reason text not null,
  -- Asked for from the address itself.
  own boolean not null,
  status text not null check (status in ('granted', 'open', 'upheld', 'rejected')),
  created_at timestamptz not null default now(),
  decided_at timestamptz
);
create index on abuse_appeal (address, created_at);

-- A version of the exported list. Version 0 is the empty list that every installation begins with.
create table abuse_snapshot (
  version integer primary key,
  count integer not null,
  created_at timestamptz not null,
  -- When its files were stored; before, the version below it is served.
  ready_at timestamptz
);
insert into abuse_snapshot values (0, 0, now(), now());

create table abuse_snapshot_file (
  version integer not null references abuse_snapshot on delete cascade,
  format text not null,
  etag text not null,
  size integer not null,
  gzip bytea not null,
  primary key (version, format)
);

-- What a version added to the list and took from it.
create table abuse_snapshot_change (
  version integer not null references abuse_snapshot on delete cascade,
  address inet not null,
  listed boolean not null,
  primary key (version, address)
);

-- A change so large that an administrator must look at it first; the row says which size they agreed to.
create table abuse_snapshot_hold (
  single boolean primary key default true check (single),
  count_before integer not null,
  count_after integer not null,
  held_at timestamptz not null,
  approved boolean not null default false
);

-- Ends a statement that found something else than it was written for; whoever sent it reads again and sends another.
create function abuse_require(met boolean) returns void language plpgsql as $$
begin
  if met is not true then
    raise exception 'overtaken' using errcode = 'serialization_failure';
  end if;
end
$$;
