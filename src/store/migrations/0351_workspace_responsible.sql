-- without a transaction: so that workspaces can change while the index is created
drop index concurrently if exists workspace_responsible;
create index concurrently workspace_responsible on workspace (responsible_id);
