-- The rules by which a webhook endpoint answers, in front of its own response. Every capture writes the endpoint's row: its new
-- columns are null where they are not used, and cost nothing then.
alter table webhook_endpoint add column name text;
-- Further headers of the response: a list of names and values.
alter table webhook_endpoint add column response_headers jsonb;

create table webhook_rule (
  id uuid primary key default uuid_v7(),
  endpoint_id uuid not null references webhook_endpoint on delete cascade,
  -- Rules are compared in this order. The first that matches answers.
  position integer not null,
  label text not null default '',
  enabled boolean not null default true,
  -- Which requests it answers.
  conditions jsonb not null default '{}',
  answers jsonb not null,
  -- What follows the last answer: the last one again, or the first.
  after_last text not null default 'last' check (after_last in ('last', 'repeat')),
  -- Where the key of a sequence is found in a request; null where all requests share one.
  key text,
  -- How long a key is remembered after its last request.
  key_minutes integer not null default 60 check (key_minutes between 1 and 10080),
  created_at timestamptz not null default now()
);
create index on webhook_rule (endpoint_id, position);

-- How many requests a sequence has answered, by key. Every request of a sequence changes a row.
create table webhook_rule_state (
  rule_id uuid not null references webhook_rule on delete cascade,
  key text not null,
  count bigint not null,
  -- Null for a sequence without a key, which never expires.
  expires_at timestamptz,
  primary key (rule_id, key)
) with (fillfactor = 70);

-- Names of URLs that an endpoint had. Their senders may still send data, which no other workspace may get.
create table webhook_held_name (
  name text primary key,
  workspace_id uuid not null,
  held_until timestamptz not null
);

-- The rule that answered: its id and label, the number of the answer, the key and the fault.
alter table webhook_request add column answered_by json;

create or replace function delete_webhook_requests() returns trigger language plpgsql as $$
begin
  perform take_turn_deleting_requests();
  delete from webhook_request where endpoint_id = old.id;
  delete from webhook_deleted where endpoint_id = old.id;
  delete from webhook_alert where endpoint_id = old.id;
  if old.name is not null then
    insert into webhook_held_name (name, workspace_id, held_until)
    values (old.name, old.workspace_id, now() + interval '90 days')
    on conflict (name) do update set workspace_id = excluded.workspace_id, held_until = excluded.held_until;
  end if;
  return null;
end
$$;
