-- What a destination changes in the requests that it gets; null for nothing.
alter table webhook_destination add column change jsonb;
