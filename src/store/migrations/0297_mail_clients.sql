-- Report mailboxes sign in with a password or with a sign-in at the provider.
alter table dmarc_mailbox
  alter column sealed drop not null,
  add column credential_id uuid references mail_credential on delete set null,
  -- Why reading waits for a person, who must sign in again.
  add column needs_sign_in boolean not null default false;
create index on dmarc_mailbox (credential_id);

-- The client of this service at a provider of mailboxes, as an administrator has entered it. Settings
-- of the environment win.
create table mail_client (
  id uuid primary key default uuid_v7(),
  provider text not null unique,
  client_id text not null,
  -- The client secret, encrypted; null for a client without one.
  sealed text,
  -- Of Microsoft.
  tenant text,
  updated_at timestamptz not null default now(),
  updated_by uuid references account on delete set null
);
create index on mail_client (updated_by);

-- A client that its provider rejects. What uses it waits until it is corrected.
create table mail_client_problem (
  provider text primary key,
  -- SHA-256 of the client ID and secret that were rejected.
  fingerprint bytea not null,
  problem text not null,
  since timestamptz not null default now(),
  checked_at timestamptz not null default now()
);
