-- The cut-over of a domain whose mailboxes a batch moves: from lowering the TTL to the proof.
create table migration_cutover (
  id uuid primary key default uuid_v7(),
  batch_id uuid not null references migration_batch on delete cascade,
  workspace_id uuid not null references workspace on delete cascade,
  domain text not null,
  -- The hosts of the new MX records, in lower case.
  expected_mx text[] not null,
  target_ttl integer not null,
  quiet_hours integer not null,
  proof_level text not null check (proof_level in ('headers', 'full')),
  -- What the name servers and the resolver answered last.
  dns jsonb,
  dns_checked_at timestamptz,
  -- The highest TTL of the MX records that was seen before it was low, and the last one before the switch.
  highest_ttl integer,
  last_ttl integer,
  -- Since when every name server has had the low TTL, and the new MX records.
  ttl_low_at timestamptz,
  switched_at timestamptz,
  -- Since when name servers have had other MX records again.
  reverted_at timestamptz,
  -- Copies with a smaller id were made before the switch.
  first_copy_id bigint,
  last_arrival_at timestamptz,
  final_started_at timestamptz,
  next_check_at timestamptz not null default now(),
  claimed_until timestamptz,
  created_by uuid references account on delete set null,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  outcome text check (outcome in ('done', 'cancelled'))
);
create unique index migration_cutover_open on migration_cutover (batch_id) where ended_at is null;
create index on migration_cutover (batch_id, id);
create index on migration_cutover (workspace_id);
create index on migration_cutover (next_check_at) where ended_at is null;
create index on migration_cutover (created_by);

-- A step of a cut-over. Steps are open one after the other.
create table migration_cutover_step (
  cutover_id uuid not null references migration_cutover on delete cascade,
  step text not null check (step in ('ttl', 'switch', 'quiet', 'final_pass', 'proof')),
  -- Null: an earlier step is open.
  opened_at timestamptz,
  closed_at timestamptz,
  -- `seen`: Portreeve saw that it is done. `confirmed` and `skipped`: a person said so.
  outcome text check (outcome in ('seen', 'confirmed', 'skipped')),
  -- What was seen when it was closed, or what the person noted.
  note text,
  account_id uuid references account on delete set null,
  person text,
  primary key (cutover_id, step)
);
create index on migration_cutover_step (account_id);

-- New messages of a source since the switch.
create table migration_cutover_mailbox (
  cutover_id uuid not null references migration_cutover on delete cascade,
  mailbox_id uuid not null references batch_mailbox on delete cascade,
  messages integer not null,
  last_arrival_at timestamptz not null,
  primary key (cutover_id, mailbox_id)
);
create index on migration_cutover_mailbox (mailbox_id);
