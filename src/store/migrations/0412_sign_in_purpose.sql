-- What a sign-in at a provider is for: its tokens open nothing else.
alter table mail_consent add column purpose text not null default 'mailbox'
  check (purpose in ('mailbox', 'postmaster'));
alter table mail_credential add column purpose text not null default 'mailbox'
  check (purpose in ('mailbox', 'postmaster'));
