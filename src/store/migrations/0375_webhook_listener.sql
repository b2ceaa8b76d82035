-- The listener that answers the senders of an endpoint, as long as it renews its lease.
create table webhook_listener (
  endpoint_id uuid primary key references webhook_endpoint on delete cascade,
  id uuid not null,
  -- How long a sender waits for its answer.
  hold_seconds real not null check (hold_seconds between 1 and 25),
  lease_until timestamptz not null
);

-- What a listener answered. A late answer is shown all the same.
create table webhook_answer (
  request_id uuid primary key,
  endpoint_id uuid not null references webhook_endpoint on delete cascade,
  status smallint not null,
  headers jsonb not null,
  body bytea not null,
  -- Whether the sender got it.
  sent boolean not null default false,
  at timestamptz not null default now()
);
create index on webhook_answer (endpoint_id);
create index on webhook_answer (at);
