-- The first request of a day with a key, such as an id that its sender gave it. Written in the transaction that stores the request.
-- As in webhook_deleted, there is no foreign key, whose check would cost each capture as much as the row.
create table webhook_repeat (
  endpoint_id uuid not null,
  -- A hash, of the same size as a uuid.
  key uuid not null,
  request_id uuid not null,
  at timestamptz not null default now(),
  primary key (endpoint_id, key)
) with (fillfactor = 70);
create index webhook_repeat_at on webhook_repeat using brin (at);

-- The earlier request that this one repeats; null for none.
alter table webhook_request add column repeat_of uuid;
-- Where the key is found in a request; null for the headers that senders usually have.
alter table webhook_endpoint add column repeat_key text;
-- Whether repeated requests are left out.
alter table webhook_destination add column skip_repeats boolean not null default false;

create or replace function delete_webhook_requests() returns trigger language plpgsql as $$
begin
  perform take_turn_deleting_requests();
  delete from webhook_request where endpoint_id = old.id;
  delete from webhook_deleted where endpoint_id = old.id;
  delete from webhook_alert where endpoint_id = old.id;
  delete from webhook_repeat where endpoint_id = old.id;
  if old.name is not null then
    insert into webhook_held_name (name, workspace_id, held_until)
    values (old.name, old.workspace_id, now() + interval '90 days')
    on conflict (name) do update set workspace_id = excluded.workspace_id, held_until = excluded.held_until;
  end if;
  return null;
end
$$;
