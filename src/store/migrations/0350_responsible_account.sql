-- The account that answers for a workspace: its first owner. What protects other accounts counts for it, over all its
-- workspaces. The id of the workspace itself where it has no owner. Triggers keep it, also for the version before.
alter table workspace add column responsible_id uuid;

create function workspace_responsible(workspace uuid) returns uuid language sql stable as $$
  select coalesce((
    select account_id from membership where workspace_id = workspace and role = 'owner'
    order by created_at, account_id limit 1), workspace)
$$;

create function membership_changed() returns trigger language plpgsql as $$
begin
  update workspace set responsible_id = workspace_responsible(id)
  where id = coalesce(new.workspace_id, old.workspace_id)
    and responsible_id is distinct from workspace_responsible(id);
  return null;
end $$;

-- Until its owner is inserted.
create function workspace_inserted() returns trigger language plpgsql as $$
begin
  new.responsible_id := coalesce(new.responsible_id, new.id);
  return new;
end $$;

create trigger workspace_inserted before insert on workspace
  for each row execute function workspace_inserted();
create trigger membership_changed after insert or delete or update of role on membership
  for each row execute function membership_changed();

update workspace set responsible_id = workspace_responsible(id);

-- How far an account has used up a rate limit; see 0125. In place of `request_rate`, which is counted by workspace and which
-- only the version before uses. Without a foreign key: full buckets are deleted every hour.
create unlogged table account_rate (
  account_id uuid not null,
  name text not null,
  full_at timestamptz not null,
  primary key (account_id, name)
) with (fillfactor = 80);
