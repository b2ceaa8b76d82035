-- The versions of a public feed before the one in use, until no bouncer has an entry of them any more.
create table public_feed_version (
  feed_id text not null references public_feed on delete cascade,
  hash bytea not null,
  networks bytea not null,
  replaced_at timestamptz not null,
  primary key (feed_id, hash)
);

-- The public feeds that a bouncer received last, with their versions and what was left out, and when it received all.
alter table fleet_bouncer add column feeds jsonb;
alter table fleet_bouncer add column feeds_at timestamptz;
