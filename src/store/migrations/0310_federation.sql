-- Another installation with which evidence is exchanged once both administrators approved.
create table federation_peer (
  id uuid primary key default uuid_v7(),
  url text not null unique,
  -- Ed25519: 32 bytes, in base64url.
  public_key text not null,
  -- Another key that the installation shows now; it needs a new approval.
  offered_key text,
  -- When we approved it; null while it only asks.
  approved_at timestamptz,
  -- When it asked us.
  requested_at timestamptz,
  -- When it first confirmed that it follows us.
  followed_at timestamptz,
  -- When it ended the peering.
  ended_at timestamptz,
  -- When we ended it: the row is deleted after its evidence.
  ending_at timestamptz,
  -- Why nothing is received until an administrator approves it again.
  refusal text check (refusal in ('flood', 'malformed', 'bad_signature', 'future')),
  refusal_detail text,
  refused_at timestamptz,
  -- Position in its journal up to which everything is applied.
  cursor bigint not null default 0,
  next_contact_at timestamptz not null default now(),
  last_contact_at timestamptz,
  failures integer not null default 0,
  -- Why the last contact failed; null when it succeeded.
  problem text,
  -- Items received in the current day, and since when.
  day_items integer not null default 0,
  day_started_at timestamptz not null default now(),
  received bigint not null default 0,
  withdrawn bigint not null default 0,
  -- Evidence that is not counted: protected addresses, unknown services, too old.
  ignored bigint not null default 0,
  sent bigint not null default 0,
  -- Position in our journal up to which evidence is counted as sent.
  sent_cursor bigint not null default 0,
  created_at timestamptz not null default now()
);

-- Evidence received from a peer. Withdrawn evidence is kept, so that it does not count when it is sent again.
create table federation_evidence (
  peer_id uuid not null references federation_peer on delete cascade,
  id uuid not null,
  address inet not null,
  service text not null,
  -- A pseudonym that is valid for this peering and address.
  network text not null,
  -- The hour of the report, as the peer says.
  seen_at timestamptz not null,
  received_at timestamptz not null,
  withdrawn_at timestamptz,
  primary key (peer_id, id)
);
create index on federation_evidence (address, peer_id);
create index on federation_evidence (seen_at);

-- Numbers of evidence and withdrawals, given under an advisory lock, so that they are visible in their order.
create sequence federation_number;

-- Evidence of our own reporters, for peers: at most one row for each address, service, network and day.
create table federation_journal (
  number bigint primary key,
  id uuid not null default gen_random_uuid(),
  address inet not null,
  service text not null,
  -- The pseudonym of the network. Peers get another one.
  network text not null,
  day date not null,
  seen_at timestamptz not null,
  -- The number of the withdrawal; null while the evidence stands.
  withdrawn_number bigint unique
);
create unique index on federation_journal (address, service, network, day) where withdrawn_number is null;
create index on federation_journal (seen_at);

-- Reports up to this time are in the journal.
create table federation_collection (
  single boolean primary key default true check (single),
  collected_at timestamptz not null
);

-- Signed requests of the last minutes, so that none is accepted twice.
create table federation_nonce (
  fingerprint text not null,
  nonce text not null,
  at timestamptz not null,
  primary key (fingerprint, nonce)
);
create index on federation_nonce (at);
