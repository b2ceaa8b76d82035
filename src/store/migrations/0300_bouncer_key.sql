-- A report token is part of the URL of its statistics, so it no longer opens the fleet list: a bouncer key does.
alter table abuse_token
  add column can_report boolean not null default true,
  add column reads_fleet boolean not null default false,
  add check (can_report or reads_fleet);

-- Tokens of workspaces whose list is followed keep working.
update abuse_token set reads_fleet = true where workspace_id in (
  select workspace_id from fleet_server where followed_at is not null
  union
  select t.workspace_id from fleet_bouncer b join abuse_token t on t.id = b.token_id
);
