-- Where an endpoint forwards its requests.
create table webhook_destination (
  id uuid primary key default uuid_v7(),
  endpoint_id uuid not null references webhook_endpoint on delete cascade,
  workspace_id uuid not null references workspace on delete cascade,
  label text not null default '',
  -- The server of the URL. The URL itself may be a secret, and is encrypted with further headers and the signing secrets.
  target text not null,
  sealed text not null,
  -- `off` was decided by the service, which says why.
  state text not null default 'active' check (state in ('active', 'paused', 'off')),
  reason text,
  -- Which requests are forwarded.
  conditions jsonb not null default '{}',
  signing text not null default 'standard' check (signing in ('none', 'standard', 'standard-ed25519')),
  order_mode text not null default 'none' check (order_mode in ('none', 'key', 'strict')),
  order_key text,
  concurrency integer not null default 5 check (concurrency between 1 and 50),
  per_minute integer check (per_minute between 1 and 60000),
  timeout_seconds integer not null default 20 check (timeout_seconds between 1 and 60),
  -- Seconds before each retry; null for the usual ones.
  schedule integer[],
  -- Statuses after which a delivery is not tried again.
  final_statuses integer[] not null default '{}',
  -- Whether new deliveries are queued: false while too many wait.
  accepting boolean not null default true,
  -- The earliest time of the next attempt, whatever waits: a breaker, a rate, or what the receiver asked for.
  due_at timestamptz not null default now(),
  claimed_until timestamptz,
  claims bigint not null default 0,
  -- How often in a row the breaker has opened; 0 while it is closed.
  breaker_level integer not null default 0,
  -- Since when every attempt has failed, and the hours after which it was alerted about.
  failing_since timestamptz,
  alerted_hours integer not null default 0,
  last_success_at timestamptz,
  last_error text,
  created_at timestamptz not null default now()
) with (fillfactor = 70);
create index on webhook_destination (endpoint_id);
create index on webhook_destination (workspace_id);

-- One request for one destination. Written in the transaction that stores the request, whose row holds no foreign key.
create table webhook_delivery (
  id uuid primary key default uuid_v7(),
  -- In the order of commits, as those of requests.
  seq bigint generated always as identity,
  destination_id uuid not null references webhook_destination on delete cascade,
  endpoint_id uuid not null,
  request_id uuid not null,
  -- The replay that it belongs to; null for the first delivery of a request.
  replay_id uuid,
  state text not null check (state in
    ('waiting', 'sending', 'delivered', 'dead', 'held', 'dropped', 'unsendable', 'cancelled')),
  attempts integer not null default 0,
  due_at timestamptz not null default now(),
  -- The claim of the destination by which it is being sent.
  run bigint,
  order_key text,
  -- Bytes of the body.
  bytes integer not null default 0,
  -- Whether an attempt had no answer, so that the receiver may have the request.
  uncertain boolean not null default false,
  status smallint,
  error text,
  created_at timestamptz not null default now(),
  ended_at timestamptz
) with (fillfactor = 70);
create index webhook_delivery_due on webhook_delivery (destination_id, due_at) where state in ('waiting', 'sending');
create index webhook_delivery_order on webhook_delivery (destination_id, order_key, seq) where state in ('waiting', 'sending');
create index webhook_delivery_list on webhook_delivery (destination_id, seq);
-- A request is kept while deliveries of it wait.
create index webhook_delivery_pin on webhook_delivery (request_id) where state in ('waiting', 'sending', 'held');
create index webhook_delivery_ended on webhook_delivery (ended_at);

-- Every attempt; never changed.
create table webhook_attempt (
  delivery_id uuid not null references webhook_delivery on delete cascade,
  number integer not null,
  at timestamptz not null,
  duration_ms real not null,
  status smallint,
  -- What went wrong: dns, connect, tls, refused, timeout, unanswered, redirect, status, blocked.
  kind text,
  error text,
  address text,
  -- The beginning of the answer; null where it came from an address that is not public.
  answer text,
  primary key (delivery_id, number)
);
create index on webhook_attempt using brin (at);
