-- What a person changed in a captured request before it was sent to a destination; null for what stays as captured.
create table webhook_edit (
  delivery_id uuid primary key references webhook_delivery on delete cascade,
  endpoint_id uuid not null,
  method text,
  path text,
  query text,
  headers json,
  body bytea,
  created_at timestamptz not null default now()
);
create index on webhook_edit (endpoint_id, created_at);
alter table webhook_delivery add column edited boolean not null default false;
