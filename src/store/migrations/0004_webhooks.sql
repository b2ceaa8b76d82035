-- An address under which anybody's requests are kept, and what they are answered.
create table webhook_endpoint (
  id uuid primary key default uuid_v7(),
  account_id uuid not null references account on delete cascade,
  token text not null unique check (token ~ '^[A-Za-z0-9]{10}$'),
  label text not null default '',
  response_status smallint not null default 200,
  response_body text not null default '',
  response_type text not null default 'text/plain; charset=utf-8',
  -- Whether {{…}} in the body is filled in.
  template boolean not null default false,
  cors boolean not null default true,
  -- Seconds before the answer.
  timeout real not null default 0,
  -- Captures since the creation or the last clearing, whether or not they are still kept.
  request_count bigint not null default 0,
  -- How its sender signs, without the secret, which is sealed.
  signature jsonb,
  signature_secret text,
  created_at timestamptz not null default now()
) with (fillfactor = 50);
create index on webhook_endpoint (account_id, id);

-- A request as it came. seq grows in the order of commits, over all instances: whoever has read up to one misses none.
create table webhook_request (
  seq bigint generated always as identity,
  id uuid not null,
  endpoint_id uuid not null,
  method text not null,
  -- Below the token and behind the question mark, still escaped.
  path text not null,
  query text not null,
  -- Never searched in by key, and kept with its order and its repetitions.
  headers json not null,
  trailers json,
  ip inet not null,
  -- At most 1 MiB of what was received; body_size counts all of it.
  body bytea not null,
  body_size bigint not null,
  content_type text,
  received_at timestamptz not null,
  -- From the end of the headers to the last byte of the body.
  duration_ms real not null,
  http_version text not null,
  preflight boolean not null,
  -- The sender went away before the end of the body.
  aborted boolean not null,
  -- Why it was refused; null for a request that was not.
  rejected text,
  -- Null when nobody was there any more to be answered.
  response_status smallint,
  primary key (endpoint_id, seq)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.2);
-- None on id: one endpoint's requests are few enough to be looked through, and every capture would pay for it.
create index on webhook_request using brin (received_at);
-- Bodies are often compressed already, and trying costs more than it saves.
alter table webhook_request alter column body set storage external;

-- In place of a foreign key, whose check would cost every capture more than the capture: those who capture hold the
-- endpoint's row, and this takes the requests along when it goes.
create function delete_webhook_requests() returns trigger language plpgsql as $$
begin
  delete from webhook_request where endpoint_id = old.id;
  return null;
end
$$;
create trigger delete_requests after delete on webhook_endpoint
  for each row execute function delete_webhook_requests();
