-- How often in a row a migration was put back into the queue because nothing of it was completed for a while.
alter table migration add column stalls integer not null default 0;
