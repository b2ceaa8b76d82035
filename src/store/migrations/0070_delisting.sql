-- An address on its way off the blacklists. The status follows from its steps, and is written with each change of one.
create table delisting_process (
  id uuid primary key default uuid_v7(),
  account_id uuid not null references account on delete cascade,
  ip inet not null,
  status text not null default 'pending' check (status in ('pending', 'in-progress', 'completed', 'failed')),
  -- What the owner says: why the address was listed, and what was done about it.
  cause text,
  fix text,
  -- The process that had cleared the same address not long before.
  relisted_after uuid references delisting_process on delete set null,
  -- How many lists were asked at the beginning, and which of those that list it are not pursued.
  asked_count integer not null,
  unknown_count integer not null,
  not_pursued jsonb not null,
  -- What the reverse DNS said when it was last looked up.
  reverse_dns jsonb,
  created_at timestamptz not null,
  completed_at timestamptz
);
create index on delisting_process (account_id, id);
-- An account deals with an address once at a time.
create unique index on delisting_process (account_id, ip) where status in ('pending', 'in-progress');

-- One list that lists the address.
create table delisting_step (
  id uuid primary key default uuid_v7(),
  process_id uuid not null references delisting_process on delete cascade,
  -- In the order in which a person should go through them.
  rank integer not null,
  zone text not null,
  name text not null,
  category text not null,
  method text not null check (method in ('automatic', 'email', 'form', 'provider')),
  -- Where and how this list is asked, and how long it takes: what the catalogue said when the attempt began.
  plan jsonb not null,
  status text not null default 'pending'
    check (status in ('pending', 'running', 'email-sent', 'waiting', 'completed', 'failed')),
  attempt integer not null default 1,
  outcome text check (outcome in ('cleared', 'still-listed', 'unanswered', 'undelivered', 'cancelled')),
  -- What a person must do before it goes on, and whether that was told.
  needs text check (needs in ('mend', 'confirm', 'submit', 'send')),
  needs_told boolean not null default false,
  obstacles text[] not null default '{}',
  request text not null default 'none' check (request in ('none', 'due', 'claimed', 'made', 'unsure')),
  confirmed boolean not null,
  -- The owner's own words in place of ours.
  own_text text,
  -- Mails that were refused in this attempt.
  tries integer not null default 0,
  -- The first of the clean answers in a row.
  clean_at timestamptz,
  -- Milliseconds by which the deadline moved because the list did not answer.
  grace integer not null default 0,
  -- When it is looked at next; null for a step that has ended. Nobody else does so before leased_until.
  next_at timestamptz,
  leased_until timestamptz,
  deadline_at timestamptz,
  started_at timestamptz,
  requested_at timestamptz,
  ended_at timestamptz,
  -- What the list answered at the beginning, and last.
  first_answer jsonb not null,
  last_answer jsonb not null,
  unique (process_id, zone)
);
create index on delisting_step (next_at) where next_at is not null;
create index on delisting_step (process_id) where needs is not null and not needs_told;

-- Every time a list was asked, by us or by a person: never twice in one attempt, and not again before its pause is over.
create table delisting_request (
  id uuid primary key default uuid_v7(),
  step_id uuid references delisting_step on delete set null,
  attempt integer not null,
  ip inet not null,
  zone text not null,
  -- The address a mail went to; null for what a person did.
  recipient text,
  message_id text,
  state text not null check (state in ('claimed', 'made', 'unsure')),
  -- What the relay said when it took the mail.
  reply text,
  at timestamptz not null,
  unique (step_id, attempt)
);
create index on delisting_request (ip, zone, at);
create index on delisting_request (recipient, at);

-- What happened to a step, as sentences.
create table delisting_event (
  id bigint generated always as identity primary key,
  step_id uuid not null references delisting_step on delete cascade,
  at timestamptz not null,
  text text not null
);
create index on delisting_event (step_id, id);
