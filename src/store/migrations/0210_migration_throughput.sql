-- Messages and bytes over the time of a migration, in at most 240 points; null before the first.
alter table migration add column throughput jsonb;
