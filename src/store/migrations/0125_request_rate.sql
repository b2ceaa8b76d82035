-- How far an account has used up a rate limit. Each limit is a bucket that refills evenly; full_at is when it will be full
-- again. Unlogged: a request that is counted waits for no disk, and a crash only fills the buckets.
create unlogged table request_rate (
  account_id uuid not null references account on delete cascade,
  name text not null,
  full_at timestamptz not null,
  primary key (account_id, name)
) with (fillfactor = 80);
