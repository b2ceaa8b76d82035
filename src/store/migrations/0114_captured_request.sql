-- A request on its way into webhook_request, as src/webhooks/store.ts writes it.
create type captured_request as (
  id text,
  endpoint_id text,
  method text,
  path text,
  query text,
  headers json,
  trailers json,
  ip text,
  body bytea,
  body_size float8,
  content_type text,
  received_at float8,
  duration_ms float8,
  http_version text,
  preflight bool,
  aborted bool,
  rejected text,
  response_status float8
);

-- Held until the end of the transaction: who deletes many requests waits for the others who do, and none for one another.
create function take_turn_deleting_requests() returns void language sql as $$
  select pg_advisory_xact_lock(7402154)
$$;

create or replace function delete_webhook_requests() returns trigger language plpgsql as $$
begin
  perform take_turn_deleting_requests();
  delete from webhook_request where endpoint_id = old.id;
  return null;
end
$$;
