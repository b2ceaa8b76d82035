-- What was sent on a channel stays known when the channel is deleted.
alter table alert_message
  alter column channel_id drop not null,
  -- Workspace, type and name of a deleted channel; null while it exists.
  add column workspace_id uuid references workspace on delete cascade,
  add column deleted_channel_type text,
  add column deleted_channel_name text,
  add constraint alert_message_channel check (
    channel_id is not null
    or workspace_id is not null and deleted_channel_type is not null and deleted_channel_name is not null
  );
create index on alert_message (workspace_id) where workspace_id is not null;
