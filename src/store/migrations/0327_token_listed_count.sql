-- Counting the listed addresses among millions of reports takes seconds: a job counts for large tokens.
alter table abuse_token add column listed_count integer;
alter table abuse_token add column listed_counted_at timestamptz;
