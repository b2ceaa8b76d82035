-- Microsoft Smart Network Data Services, by the links of its automated data access.
create table snds_access (
  workspace_id uuid primary key references workspace on delete cascade,
  -- The links, encrypted: their keys give access.
  sealed text not null,
  -- When the links were entered: they end 30 days after their creation.
  entered_at timestamptz not null default now(),
  -- The day on which Microsoft last approved the access, which ends after ten months.
  approved_on date,
  due_at timestamptz default now(),
  failures integer not null default 0,
  failing_since timestamptz,
  problem text,
  is_ended boolean not null default false,
  fetched_at timestamptz,
  created_at timestamptz not null default now()
);
create index on snds_access (due_at) where due_at is not null;

-- What Microsoft counted of an address on a day, as it counts days.
create table snds_day (
  workspace_id uuid not null references workspace on delete cascade,
  address inet not null,
  day date not null,
  rcpt_commands bigint,
  data_commands bigint,
  recipients bigint,
  filter text check (filter in ('green', 'yellow', 'red')),
  -- As Microsoft writes it (“< 0.1%”), and the range that this means, from 0 to 1.
  complaint_rate text,
  complaint_low double precision,
  complaint_high double precision,
  trap_hits bigint,
  helo text,
  mail_from text,
  comments text,
  primary key (workspace_id, address, day)
);
create index on snds_day (day);

-- Addresses that Microsoft blocks, or delivers to junk, at the last fetch.
create table snds_block (
  workspace_id uuid not null references workspace on delete cascade,
  first inet not null,
  last inet not null,
  is_blocked boolean not null,
  detail text not null,
  primary key (workspace_id, first, last, detail)
);

-- Addresses of which an alert is open.
create table snds_alert (
  workspace_id uuid not null references workspace on delete cascade,
  address inet not null,
  level text not null check (level in ('warning', 'error')),
  -- Whether only its status says so, not what was counted of it.
  is_block boolean not null,
  since timestamptz not null default now(),
  known_at timestamptz not null default now(),
  primary key (workspace_id, address)
);
create index on snds_alert (known_at);
