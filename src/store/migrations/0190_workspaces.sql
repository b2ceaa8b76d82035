-- Workspaces own everything that accounts owned, and accounts are members of workspaces. Each account becomes a workspace
-- with its own id and one owner, so that no row is rewritten and ids, alert keys and encrypted columns stay valid.
create table workspace (
  id uuid primary key default uuid_v7(),
  name text not null,
  plan text not null check (plan in ('free', 'starter', 'pro', 'business', 'enterprise')),
  -- Whose plan it has. Null when that account is deleted.
  created_by uuid references account on delete set null,
  created_at timestamptz not null default now(),
  -- A deleted workspace is kept until then, so that an owner can restore it.
  delete_after timestamptz
);
create index on workspace (created_by);
create index on workspace (delete_after) where delete_after is not null;

create table membership (
  workspace_id uuid not null references workspace on delete cascade,
  account_id uuid not null references account on delete cascade,
  role text not null check (role in ('owner', 'admin', 'member', 'read-only')),
  created_at timestamptz not null default now(),
  primary key (workspace_id, account_id)
);
create index on membership (account_id, created_at);

insert into workspace (id, name, plan, created_by, created_at)
select id, coalesce(nullif(name, ''), email), plan, id, created_at from account;
insert into membership (workspace_id, account_id, role, created_at)
select id, id, 'owner', created_at from account;

-- An invitation by email has an address, which the account that accepts it must have verified. One by link has none.
create table invitation (
  id uuid primary key default uuid_v7(),
  workspace_id uuid not null references workspace on delete cascade,
  email text check (email = lower(email)),
  role text not null check (role in ('owner', 'admin', 'member', 'read-only')),
  hash bytea not null unique,
  invited_by uuid not null references account on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create unique index on invitation (workspace_id, email);
create index on invitation (invited_by);
create index on invitation (expires_at);

alter table account_usage rename to workspace_usage;

do $$
declare
  owned text;
  constraint_name text;
begin
  foreach owned in array array[
    'abuse_token', 'alert', 'alert_channel', 'alert_first_channel', 'delisting_process', 'dmarc_delivery', 'dmarc_domain',
    'dmarc_mailbox', 'dmarc_set_aside', 'migration', 'monitored_host', 'monitored_list', 'request_rate', 'shared_check',
    'webhook_endpoint', 'workspace_usage']
  loop
    select conname into strict constraint_name from pg_constraint
    where conrelid = owned::regclass and confrelid = 'account'::regclass and contype = 'f';
    execute format('alter table %I drop constraint %I', owned, constraint_name);
    execute format('alter table %I rename column account_id to workspace_id', owned);
    execute format('alter table %I add constraint %I foreign key (workspace_id) references workspace on delete cascade', owned,
      owned || '_workspace_id_fkey');
  end loop;
end
$$;

-- An API token acts for the account that created it, within one workspace.
alter table api_token
  add column workspace_id uuid references workspace on delete cascade,
  -- Null allows everything, as tokens from before did.
  add column scopes text[],
  add column expires_at timestamptz;
update api_token set workspace_id = account_id;
alter table api_token alter column workspace_id set not null;
create index on api_token (workspace_id, id);

-- Entries without a workspace are the actions of administrators. API tokens are named, because they outlive their use.
alter table audit_entry
  add column workspace_id uuid references workspace on delete cascade,
  add column token_id uuid;
create index on audit_entry (workspace_id, id);

-- The account, or the workspace, that caused a message.
alter table outgoing_mail rename column account_id to sender_id;

drop function count_captures(uuid[], int[], bigint[]);
create function count_captures(ids uuid[], captured int[], bytes bigint[] default '{}')
returns table (id uuid, workspace_id uuid) language plpgsql as $$
declare
  found_ones int;
begin
  perform pg_advisory_xact_lock(7402153);
  return query
    update webhook_endpoint e set
      request_count = e.request_count + c.captured,
      captured_bytes = e.captured_bytes + coalesce(c.bytes, 0)
    from unnest(ids, captured, bytes) as c (id, captured, bytes)
    where e.id = c.id returning e.id, e.workspace_id;
  get diagnostics found_ones = row_count;
  if found_ones < cardinality(ids) then
    raise foreign_key_violation using message = 'an endpoint of captured requests is gone';
  end if;
end
$$;

create or replace function count_report_bytes() returns trigger language plpgsql as $$
declare
  workspace uuid := coalesce(new.workspace_id, old.workspace_id);
  change bigint := coalesce(octet_length(new.content), 0) - coalesce(octet_length(old.content), 0);
begin
  -- Less is only ever subtracted: where a workspace is deleted with its files, its row may be deleted before them.
  if change > 0 and workspace is not null then
    insert into workspace_usage as u (workspace_id, report_bytes) values (workspace, change)
    on conflict (workspace_id) do update set report_bytes = u.report_bytes + change;
  elsif change < 0 then
    update workspace_usage set report_bytes = report_bytes + change where workspace_id = workspace;
  end if;
  return null;
end
$$;

-- Where a workspace needs one person: its first owner whose account is in use.
create view workspace_contact as
select distinct on (m.workspace_id) m.workspace_id, a.id as account_id, a.email, a.email_verified
from membership m join account a on a.id = m.account_id
where m.role = 'owner'
order by m.workspace_id, a.disabled_at is not null, m.created_at, a.id;
