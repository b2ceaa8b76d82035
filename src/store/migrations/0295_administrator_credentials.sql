-- Sign-ins of an administrator open all mailboxes of an organization: a service account of Google,
-- an application of Microsoft. Their access tokens are kept in memory, one for each mailbox.
alter table mail_credential
  add column kind text not null default 'person' check (kind in ('person', 'service_account', 'app')),
  -- The ID under which the administrator has allowed the access.
  add column client_id text,
  -- The mailbox whose token was rejected last, to check it again.
  add column problem_user text,
  -- Kept while a report mailbox uses it.
  add column is_held boolean not null default false,
  alter column access_expires_at drop not null,
  alter column lifetime_seconds drop not null;

-- Whether a batch still uses a credential.
create index on batch_mailbox ((source ->> 'credentialId')) where source ? 'credentialId';
create index on batch_mailbox ((destination ->> 'credentialId')) where destination ? 'credentialId';
