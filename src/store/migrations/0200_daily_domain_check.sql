-- The daily whole check of a watched domain.
alter table watched_domain
  -- The picture of its last whole check; null before the first, and for one that is too large.
  add column report jsonb,
  -- States by line and `verdict`: {"state": ..., "suspect": {"state": ..., "at": ...} or null}. A change counts when it was seen twice.
  add column states jsonb not null default '{}',
  add column check_due_at timestamptz not null default now(),
  add column check_claimed_until timestamptz;
-- Domains from before this migration are spread over a day.
update watched_domain set check_due_at = now() + random() * interval '1 day';
create index on watched_domain (check_due_at);

-- Changes of a verdict or a line have a sentence.
alter table domain_event add column detail text;
