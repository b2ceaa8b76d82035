-- Results of checks as they were, for whoever has the link.
create table shared_check (
  token text primary key check (token ~ '^[A-Za-z0-9]{24}$'),
  account_id uuid not null references account on delete cascade,
  -- The name or address they are about.
  target text not null,
  -- [{"check", "madeAt", "data"}]: read whole, and kept in its order.
  results json not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index on shared_check (account_id, created_at);
create index on shared_check (expires_at);
