-- Wrong passwords of the last hour, by a keyed hash of what was guessed at: an e-mail, whether or not it has an account, a
-- device or network of its owner, or an account from within a session.
create table password_attempt (
  key bytea primary key,
  failures integer not null,
  last_failed_at timestamptz not null default now(),
  -- Until then no password is checked.
  blocked_until timestamptz not null default now()
);
create index on password_attempt (last_failed_at);

-- Networks from which somebody signed in to an account, as keyed hashes: guesses from elsewhere do not keep its owner out there.
create table known_network (
  hash bytea primary key,
  account_id uuid not null references account on delete cascade,
  last_used_at timestamptz not null default now()
);
create index on known_network (account_id);
create index on known_network (last_used_at);
