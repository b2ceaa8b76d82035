-- Whether a workspace mails its reports to the networks that the attackers are in. Without a row: off.
create table abuse_mail_settings (
  workspace_id uuid primary key references workspace on delete cascade,
  -- “test”: every mail goes to the contact instead.
  mode text not null check (mode in ('off', 'test', 'on')),
  -- The address of the member who turned it on: recipients answer to it.
  contact text not null
);

-- An email about the addresses of one network that attacked on one day.
create table abuse_mail (
  id uuid primary key default uuid_v7(),
  workspace_id uuid not null references workspace on delete cascade,
  day date not null,
  recipient text not null,
  -- The name and range of the network, as its registry has it.
  network text not null,
  is_test boolean not null,
  state text not null default 'waiting'
    check (state in ('waiting', 'sending', 'sent', 'skipped', 'failed', 'uncertain')),
  -- Why it was skipped or failed, or why it waits.
  reason text not null default '',
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  -- The mail relay may have it from then on, so that it is not sent again after a crash.
  handed_over_at timestamptz,
  ended_at timestamptz,
  created_at timestamptz not null default now()
);
-- Reports whose network is found later than that of others get an email of their own.
create unique index on abuse_mail (workspace_id, day, recipient, network, is_test) where state = 'waiting';
create index on abuse_mail (due_at) where state = 'waiting';
create index on abuse_mail (state) where state = 'sending';
create index on abuse_mail (recipient, ended_at);
create index on abuse_mail (workspace_id, id);
create index on abuse_mail (created_at);

-- Reports of one address on one day (UTC): what the servers of the workspace reported.
create table abuse_mail_report (
  workspace_id uuid not null references workspace on delete cascade,
  day date not null,
  address inet not null,
  services text[] not null,
  port integer,
  count integer not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  -- Null until the network is known.
  mail_id uuid references abuse_mail on delete set null,
  -- The network publishes no address for reports.
  has_no_contact boolean not null default false,
  primary key (workspace_id, day, address)
);
create index on abuse_mail_report (day) where mail_id is null and not has_no_contact;
create index on abuse_mail_report (mail_id);
create index on abuse_mail_report (day);

-- The abuse contact of the network around an address (IPv4 /24, IPv6 /48), from its registry (RDAP).
create table abuse_contact (
  prefix cidr primary key,
  network text not null,
  email text,
  looked_up_at timestamptz not null
);
create index on abuse_contact (looked_up_at);

-- Addresses that never get an email again, as SHA-256 of the address in lower case.
create table abuse_mail_opt_out (
  hash bytea primary key,
  reason text not null check (reason in ('link', 'bounce', 'administrator')),
  created_at timestamptz not null default now()
);
