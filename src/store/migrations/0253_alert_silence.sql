-- Who snoozed an incident and since when. `…_via` names the channel whose link was used instead of an account.
alter table alert_incident
  add column acknowledged_via text,
  add column snoozed_at timestamptz,
  add column snoozed_by uuid references account on delete set null,
  add column snoozed_via text;
create index on alert_incident (snoozed_until) where snoozed_until is not null;

-- Alerts that are recorded and not sent: those about an object, of a kind, or of a kind about an object.
create table alert_mute (
  id uuid primary key default uuid_v7(),
  workspace_id uuid not null references workspace on delete cascade,
  -- A page of the dashboard (`/monitoring/ID`), or the name of an incident or its beginning (`blacklist/8.8.4.4`).
  object text,
  -- An alert kind or its first word.
  kind text,
  label text not null default '',
  reason text not null default '',
  -- Null until it is removed.
  ends_at timestamptz,
  created_by uuid references account on delete set null,
  created_via text,
  created_at timestamptz not null default now(),
  check (object is not null or kind is not null)
);
create unique index alert_mute_subject on alert_mute (workspace_id, coalesce(object, ''), coalesce(kind, ''));

-- Why an alert was not sent; “summarised” when the message at the end of the snooze counted it.
alter table alert add column silenced text
  check (silenced in ('muted', 'snoozed', 'acknowledged', 'summarised'));

-- Links in messages that were used; each works once.
create table alert_link_use (
  alert_id uuid not null references alert on delete cascade,
  channel_id uuid not null references alert_channel on delete cascade,
  action text not null,
  used_at timestamptz not null default now(),
  primary key (alert_id, channel_id)
);
create index on alert_link_use (channel_id);

-- Whether messages contain links with which anyone can acknowledge, snooze and mute.
alter table alert_channel add column action_links boolean not null default true;

-- A message that only shows at the service who handles an incident.
alter table alert_message add column handling_of uuid references alert_incident on delete cascade;
create index on alert_message (handling_of) where handling_of is not null;
