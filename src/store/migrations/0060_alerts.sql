-- What an account is told. It is told once: of those with the same key the first counts.
create table alert (
  id uuid primary key default uuid_v7(),
  account_id uuid not null references account on delete cascade,
  kind text not null,
  key text not null,
  title text not null,
  text text not null,
  next_step text not null,
  at timestamptz not null,
  created_at timestamptz not null default now(),
  unique (account_id, key)
);
create index on alert (account_id, id);
create index on alert using brin (created_at);

-- Where an account is told: a mail address or a URL.
create table alert_channel (
  id uuid primary key default uuid_v7(),
  account_id uuid not null references account on delete cascade,
  type text not null check (type in ('email', 'webhook')),
  target text not null,
  label text not null default '',
  -- The first words of the kinds it takes; null for all.
  kinds text[],
  -- {from, to, timeZone}: nothing is sent between these times of the day.
  quiet_hours jsonb,
  -- What a webhook is signed with, sealed.
  secret text,
  -- Until somebody has typed the code that was mailed there, nothing else is.
  confirmed_at timestamptz,
  code_hash bytea,
  code_sent_at timestamptz,
  code_tries integer not null default 0,
  enabled boolean not null default true,
  -- Why we switched it off; null when we did not.
  disabled_reason text,
  -- Since when every try has failed; null when the last one did not.
  failing_since timestamptz,
  last_error text,
  last_sent_at timestamptz,
  created_at timestamptz not null default now(),
  unique (account_id, type, target)
);

-- That an account has been given its first channel, so that it does not come back when it is deleted.
create table alert_first_channel (
  account_id uuid primary key references account on delete cascade
);

-- One mail or one request, with one alert or a digest of several. “handed-over”: the relay may have it, so that after a
-- crash it is not sent again; it then ends as “uncertain”.
create table alert_message (
  id uuid primary key default uuid_v7(),
  channel_id uuid not null references alert_channel on delete cascade,
  state text not null default 'waiting'
    check (state in ('waiting', 'sending', 'handed-over', 'sent', 'failed', 'uncertain')),
  -- Takes more alerts until it is first tried.
  collecting boolean not null,
  due_at timestamptz not null default now(),
  attempts integer not null default 0,
  claimed_until timestamptz,
  error text,
  ended_at timestamptz,
  created_at timestamptz not null default now()
);
create unique index alert_message_collecting on alert_message (channel_id) where collecting;
create index on alert_message (due_at) where state = 'waiting';
create index on alert_message (claimed_until) where state in ('sending', 'handed-over');
create index on alert_message (channel_id);

create table alert_message_content (
  message_id uuid not null references alert_message on delete cascade,
  alert_id uuid not null references alert on delete cascade,
  primary key (message_id, alert_id)
);
create index on alert_message_content (alert_id);
