-- A problem that begins, changes and ends. Alerts about it belong together; one of each key is open at a time.
create table alert_incident (
  id uuid primary key default uuid_v7(),
  workspace_id uuid not null references workspace on delete cascade,
  key text not null,
  -- As of the last alert about it that did not resolve it.
  kind text not null,
  severity text not null check (severity in ('critical', 'error', 'warning', 'info')),
  title text not null,
  path text not null default '' check (path ~ '^(/[a-z0-9-]+)*$'),
  alerts integer not null default 1,
  opened_at timestamptz not null,
  updated_at timestamptz not null,
  resolved_at timestamptz
);
create unique index alert_incident_open on alert_incident (workspace_id, key) where resolved_at is null;
create index on alert_incident (workspace_id, (resolved_at is null) desc, id desc);
create index on alert_incident (resolved_at);

alter table alert
  add column incident_id uuid references alert_incident on delete set null,
  add column phase text not null default 'once' check (phase in ('open', 'update', 'resolved', 'once')),
  add column severity text not null default 'warning' check (severity in ('critical', 'error', 'warning', 'info'));
create index on alert (incident_id) where incident_id is not null;
