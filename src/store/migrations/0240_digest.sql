-- The digest that a member gets of a workspace by email. It ends with the membership.
create table digest_subscription (
  workspace_id uuid not null,
  account_id uuid not null,
  frequency text not null check (frequency in ('off', 'daily', 'weekly')),
  -- 1 is Monday.
  weekday smallint not null check (weekday between 1 and 7),
  hour smallint not null check (hour between 0 and 23),
  time_zone text not null,
  -- The scheduled time of the next digest; null when it is off.
  due_at timestamptz,
  -- Attempts at that digest. Later than due_at after a temporary error.
  attempt_at timestamptz,
  attempts integer not null default 0,
  -- Counts all attempts ever: what an earlier one still writes is rejected.
  run bigint not null default 0,
  -- “handed-over”: the relay may have it, so that after a crash it is not sent again and ends as “uncertain”.
  state text not null default 'waiting' check (state in ('waiting', 'sending', 'handed-over')),
  claimed_until timestamptz,
  -- The end of the period of the last digest.
  covered_until timestamptz,
  outcome text check (outcome in ('sent', 'failed', 'uncertain', 'skipped')),
  outcome_at timestamptz,
  error text,
  created_at timestamptz not null default now(),
  primary key (workspace_id, account_id),
  foreign key (workspace_id, account_id) references membership on delete cascade
);
create index on digest_subscription (attempt_at) where attempt_at is not null;
create index on digest_subscription (claimed_until) where state <> 'waiting';
