-- A request captured after its destination was changed is sent with the changed settings.
alter table webhook_destination add column revision integer not null default 0;
