-- Channels of more types. Their settings are one encrypted JSON; of them `target` holds a keyed hash, for duplicates.
alter table alert_channel drop constraint alert_channel_type_check;
alter table alert_channel
  add constraint alert_channel_type_check check (type = 'email' or type ~ '^[a-z][a-z0-9-]{1,30}$'),
  add column settings_encrypted text,
  -- What may be shown of the settings: secrets as host and last four characters.
  add column settings_shown jsonb,
  add column min_severity text check (min_severity in ('critical', 'error', 'warning', 'info')),
  -- Whether critical alerts are sent during quiet hours.
  add column critical_anytime boolean not null default false,
  -- Nothing is sent before: the service was busy or away.
  add column retry_at timestamptz,
  -- When the service last said that the settings no longer work.
  add column dead_at timestamptz,
  -- Messages that may be sent at once, and when that was counted.
  add column tokens real,
  add column tokens_at timestamptz;

-- The message at the service that is about an incident, to be changed when the incident does.
create table alert_incident_ref (
  channel_id uuid not null references alert_channel on delete cascade,
  incident_id uuid not null references alert_incident on delete cascade,
  ref text not null,
  primary key (channel_id, incident_id)
);
create index on alert_incident_ref (incident_id);

-- An alert that was not sent, because its incident had ended before.
alter table alert_message_content add column dropped boolean not null default false;

-- Above 0: a message without alerts that says how many could not be sent while the service was away.
alter table alert_message add column summarises integer not null default 0;
create unique index alert_message_summary on alert_message (channel_id) where summarises > 0 and state = 'waiting';
