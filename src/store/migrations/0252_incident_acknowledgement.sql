-- Who acknowledged an incident, and until when its alerts are not sent.
alter table alert_incident
  add column acknowledged_at timestamptz,
  add column acknowledged_by uuid references account on delete set null,
  add column snoozed_until timestamptz;
