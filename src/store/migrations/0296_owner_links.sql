-- A link with which the owner of a mailbox signs in to it for a migration, without an account here.
create table owner_link (
  id uuid primary key default uuid_v7(),
  workspace_id uuid not null references workspace on delete cascade,
  side text not null check (side in ('source', 'destination')),
  -- A single migration, or a mailbox of a batch.
  migration_id uuid references migration on delete cascade,
  mailbox_id uuid references batch_mailbox on delete cascade,
  -- SHA-256 of the token.
  hash bytea not null unique,
  created_by uuid references account on delete set null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- Passwords that the mail server rejected, or that are being checked.
  attempts integer not null default 0,
  -- When the owner has signed in.
  used_at timestamptz,
  check ((migration_id is null) <> (mailbox_id is null)),
  -- A new link replaces the one before.
  unique (migration_id, side),
  unique (mailbox_id, side)
);
create index on owner_link (workspace_id, id);
create index on owner_link (created_by);
create index on owner_link (expires_at);

-- A sign-in at a provider that an owner has begun is bound to the browser by a cookie.
alter table mail_consent
  alter column account_id drop not null,
  alter column session_id drop not null,
  add column owner_link_id uuid references owner_link on delete cascade,
  -- SHA-256 of the cookie.
  add column browser_hash bytea,
  add check ((session_id is null) = (owner_link_id is not null)),
  add check ((owner_link_id is null) = (browser_hash is null));
create index on mail_consent (owner_link_id);

-- Sign-ins of owners serve the migration of their mailbox alone.
alter table mail_credential add column is_owners boolean not null default false;

alter table batch_mailbox
  drop constraint batch_mailbox_state_check,
  add constraint batch_mailbox_state_check check (state in ('invalid', 'waiting_for_owner', 'ready', 'queued',
    'syncing', 'in_sync', 'needs_attention', 'paused', 'done'));
