-- A CrowdSec bouncer that reads the fleet list, and how much of it it has.
create table fleet_bouncer (
  token_id uuid not null references abuse_token on delete cascade,
  address inet not null,
  -- As it names itself: User-Agent.
  name text not null,
  -- What it received last, of the fleet list and of the shared list. Null: nothing yet.
  cursor bigint,
  shared_version integer,
  -- When it received the whole shared list.
  shared_at timestamptz,
  pulled_at timestamptz not null,
  -- The last figures it sent, such as dropped packets.
  metrics jsonb,
  metrics_at timestamptz,
  primary key (token_id, address, name)
);
create index on fleet_bouncer (pulled_at);
