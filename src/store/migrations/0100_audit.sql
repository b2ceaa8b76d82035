-- What administrators did. Stays when an account goes, without its id.
create table audit_entry (
  id uuid primary key default uuid_v7(),
  at timestamptz not null default now(),
  actor_id uuid references account on delete set null,
  actor_email text not null,
  -- In words, and which route or command it was.
  what text not null,
  route text not null,
  -- What was given, without passwords.
  details jsonb not null default '{}'
);
create index on audit_entry (at);

-- Keys that must outlive a change of SECRET_KEY, sealed.
create table kept_key (
  name text primary key,
  sealed text not null
);
