-- Microsoft SNDS by a sign-in of a person, for its REST API.
alter table mail_consent drop constraint mail_consent_purpose_check;
alter table mail_consent add constraint mail_consent_purpose_check
  check (purpose in ('mailbox', 'postmaster', 'snds')) not valid;
alter table mail_credential drop constraint mail_credential_purpose_check;
alter table mail_credential add constraint mail_credential_purpose_check
  check (purpose in ('mailbox', 'postmaster', 'snds')) not valid;

-- A workspace has this or links: what is entered last replaces the other.
create table snds_sign_in (
  workspace_id uuid primary key references workspace on delete cascade,
  -- The sign-in; null when it was deleted.
  credential_id uuid references mail_credential on delete set null,
  account text not null,
  approved_on date,
  due_at timestamptz default now(),
  failures integer not null default 0,
  failing_since timestamptz,
  problem text,
  is_ended boolean not null default false,
  -- What of the last fetch could not be read; null when all could.
  unreadable text,
  fetched_at timestamptz,
  created_at timestamptz not null default now()
);
create index on snds_sign_in (due_at) where due_at is not null;
create index on snds_sign_in (credential_id);

alter table snds_access add column unreadable text;
