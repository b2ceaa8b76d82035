-- Permission to sign in to a mailbox, which a person gave at the provider of the mailbox (OAuth).
create table mail_credential (
  id uuid primary key default uuid_v7(),
  workspace_id uuid not null references workspace on delete cascade,
  provider text not null,
  -- Whose mailbox it is: as the provider says, otherwise as the person entered it.
  account text not null,
  -- The identity at the provider, which does not change; null where it tells none.
  subject text,
  -- The refresh token and the latest access token, encrypted.
  sealed text not null,
  access_expires_at timestamptz not null,
  lifetime_seconds integer not null,
  -- Why the person must sign in again; null while the permission is valid.
  problem text,
  keep_until timestamptz not null,
  created_by uuid references account on delete set null,
  created_at timestamptz not null default now()
);
create index on mail_credential (workspace_id, id);
create index on mail_credential (keep_until);
create index on mail_credential (created_by);

-- A sign-in at a provider that a browser has begun. It is bound to the session of the browser, and
-- ends with it or with the membership.
create table mail_consent (
  id uuid primary key default uuid_v7(),
  workspace_id uuid not null references workspace on delete cascade,
  account_id uuid not null,
  session_id uuid not null references session on delete cascade,
  provider text not null,
  -- The user name that the person entered.
  username text,
  -- The credential to renew; null for a new one. Later, the one that was created.
  credential_id uuid references mail_credential on delete cascade,
  -- SHA-256 of the state.
  hash bytea not null unique,
  -- What the answer of the provider is checked against, encrypted.
  sealed text not null,
  expires_at timestamptz not null,
  -- Set by the answer, which is accepted once.
  answered_at timestamptz,
  -- Why it failed.
  problem text,
  foreign key (workspace_id, account_id) references membership on delete cascade
);
create index on mail_consent (workspace_id, account_id);
create index on mail_consent (session_id);
create index on mail_consent (credential_id);
create index on mail_consent (expires_at);
