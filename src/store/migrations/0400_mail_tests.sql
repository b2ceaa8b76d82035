-- An address that a person sends a mail to, to read what receivers see in it.
create table mail_test (
  id uuid primary key default uuid_v7(),
  workspace_id uuid not null references workspace on delete cascade,
  -- The local part of its address, and the code for the subject of a mail to a mailbox.
  token text not null unique,
  -- The domain that it was created for; null for none.
  domain text,
  -- The token of its link; null while it is not shared.
  share_token text unique,
  mail_count integer not null default 0,
  created_at timestamptz not null default now(),
  -- Until when it receives mail.
  expires_at timestamptz not null
);
create index on mail_test (workspace_id, created_at);
create index on mail_test (expires_at);

create table mail_test_mail (
  id uuid primary key default uuid_v7(),
  test_id uuid not null references mail_test on delete cascade,
  workspace_id uuid not null references workspace on delete cascade,
  number integer not null check (number between 1 and 3),
  origin text not null check (origin in ('smtp', 'imap', 'raw')),
  state text not null default 'analyzing' check (state in ('analyzing', 'done', 'failed')),
  -- The address, greeting and envelope that brought it; null for what is not known.
  ip text,
  helo text,
  mail_from text,
  rcpt_to text,
  connection jsonb,
  -- Lines of the SMTP session, without the mail itself.
  transcript jsonb,
  subject text,
  from_header text,
  bytes integer not null,
  findings jsonb not null default '[]',
  -- What rspamd and SpamAssassin said.
  engines jsonb not null default '[]',
  -- What is known about the sender besides the mail.
  background jsonb not null default '[]',
  -- When the receiving server got it, and when it was stored here.
  received_at timestamptz,
  created_at timestamptz not null default now(),
  -- When an analysis that did not end is repeated; null once it has ended.
  due_at timestamptz,
  attempts integer not null default 0,
  unique (test_id, number)
);
create index on mail_test_mail (workspace_id);
create index on mail_test_mail (created_at);
create index on mail_test_mail (due_at) where due_at is not null;

-- The mails themselves, for a day.
create table mail_test_raw (
  mail_id uuid primary key references mail_test_mail on delete cascade,
  content bytea not null,
  expires_at timestamptz not null
);
create index on mail_test_raw (expires_at);
