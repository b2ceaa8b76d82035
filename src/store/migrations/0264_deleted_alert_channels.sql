-- What was sent on a channel stays known when the channel is deleted.
alter table alert_message
  alter column channel_id drop not null,
  -- Workspace, type and name of the deleted channel.
  add column deleted_channel_workspace uuid references workspace on delete cascade,
  add column deleted_channel_type text,
  add column deleted_channel_name text,
  add constraint alert_message_channel check (
    channel_id is not null
    or deleted_channel_workspace is not null and deleted_channel_type is not null and deleted_channel_name is not null
  );
create index on alert_message (deleted_channel_workspace) where deleted_channel_workspace is not null;
