-- Which channels an alert goes to: the first rule that matches decides.
create table alert_rule (
  id uuid primary key default uuid_v7(),
  workspace_id uuid not null references workspace on delete cascade,
  -- Order within the workspace; unique only by id, so that a new order is one statement.
  position integer not null,
  name text not null default '',
  enabled boolean not null default true,
  -- Null for all. Kinds or their first words; patterns of names; labels.
  kinds text[],
  objects text[],
  labels text[],
  min_severity text check (min_severity in ('critical', 'error', 'warning', 'info')),
  -- Without a foreign key: channels that were deleted are ignored.
  channels uuid[] not null,
  -- {days, from, to, timeZone}
  quiet_hours jsonb,
  -- Whether critical alerts are sent during quiet hours.
  critical_anytime boolean not null default true,
  -- {steps: [{afterMinutes, channels}], repeats}
  escalation jsonb,
  created_at timestamptz not null default now()
);
create index on alert_rule (workspace_id, position, id);

alter table alert_incident
  -- The rule of its last alert.
  add column rule_id uuid references alert_rule on delete set null,
  -- When the next step of the escalation is due; null when none is.
  add column escalates_at timestamptz,
  -- Steps taken, with those of repeats.
  add column escalation_step integer not null default 0;
create index on alert_incident (rule_id) where rule_id is not null;
create index on alert_incident (escalates_at) where escalates_at is not null;
create index alert_incident_escalating on alert_incident (workspace_id) where escalates_at is not null;

alter table alert_message
  -- The rule whose quiet hours it waits for.
  add column rule_id uuid references alert_rule on delete set null,
  -- Takes more alerts of that rule until it is first attempted.
  add column rule_collecting boolean not null default false;
create unique index alert_message_rule_collecting on alert_message (channel_id, rule_id)
  where rule_collecting and state = 'waiting' and attempts = 0;
create index on alert_message (rule_id) where rule_id is not null;

-- Minutes without acknowledgement after which an alert was escalated; null when it was not.
alter table alert_message_content add column escalated_minutes integer;
