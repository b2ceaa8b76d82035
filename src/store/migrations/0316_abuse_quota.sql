-- Requests of a report token to an endpoint of AbuseIPDB’s API on a day (UTC), of all instances together.
create table abuse_quota (
  token_id uuid not null references abuse_token on delete cascade,
  endpoint text not null,
  day date not null,
  requests integer not null,
  primary key (token_id, endpoint, day)
);
create index on abuse_quota (day);
