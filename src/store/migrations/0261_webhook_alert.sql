-- Which alerts a webhook endpoint raises, and how far its requests were evaluated. In a table of its own, and not referring to
-- the endpoint, whose row every capture writes: captures do no more than before.
create table webhook_alert (
  endpoint_id uuid primary key,
  -- Minutes between two alerts about requests; null for none.
  called_every_minutes integer check (called_every_minutes between 15 and 43200),
  -- Whether requests without a valid signature raise an alert.
  bad_signature boolean not null default false,
  -- Minutes without a request that raise an alert; null for none.
  silent_after_minutes integer check (silent_after_minutes between 5 and 43200),
  -- The next evaluation.
  due_at timestamptz not null default now(),
  -- Counts evaluations and changes: what an earlier evaluation still writes is rejected.
  run bigint not null default 0,
  -- request_count of the endpoint at the last evaluation; -1 where it has to be repeated.
  checked_count bigint not null default -1,
  -- Requests up to this number were evaluated.
  seen_seq bigint not null default 0,
  -- When the last request arrived, also where it is deleted; null before the first one.
  last_request_at timestamptz,
  -- request_count that alerts have reported, and when the last of them was raised.
  called_count bigint not null default 0,
  called_at timestamptz,
  -- The clock of the silence starts no earlier.
  silent_from timestamptz not null default now(),
  -- Time of the last request before a silence that an alert was raised about; null while requests arrive.
  silent_since timestamptz,
  -- Alerts about silences that began on a day (UTC), of which there are only so many.
  silent_day text,
  silent_count integer not null default 0,
  -- Requests without a valid signature that no alert has reported yet; the newest of all, and why it is not valid.
  bad_count integer not null default 0,
  bad_at timestamptz,
  bad_reason text,
  -- The newest request with a valid signature.
  good_at timestamptz,
  -- When the last alert about them was raised; null while none is open.
  bad_alert_at timestamptz
);
create index on webhook_alert (due_at);

-- When the endpoints were watched: the time without it is no silence. One row.
create table webhook_watch (
  id boolean primary key default true check (id),
  watched_since timestamptz not null default now(),
  last_pass_at timestamptz not null default now()
);

create or replace function delete_webhook_requests() returns trigger language plpgsql as $$
begin
  perform take_turn_deleting_requests();
  delete from webhook_request where endpoint_id = old.id;
  delete from webhook_deleted where endpoint_id = old.id;
  delete from webhook_alert where endpoint_id = old.id;
  return null;
end
$$;
