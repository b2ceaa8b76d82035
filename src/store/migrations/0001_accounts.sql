-- Ids that sort by time: RFC 9562, version 7. PostgreSQL has a function of its own only since 18.
-- A random version 4 gets the milliseconds in front and two bits that make the version 4 a 7.
create function uuid_v7() returns uuid language sql volatile parallel safe as $$
  select encode(
    set_bit(
      set_bit(
        overlay(
          uuid_send(gen_random_uuid())
          placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
          from 1 for 6
        ),
        52, 1
      ),
      53, 1
    ),
    'hex'
  )::uuid
$$;

-- One row: which installation this is, for what is derived from the secret key and must differ between databases.
create table installation (
  single boolean primary key default true check (single),
  id uuid not null default gen_random_uuid()
);
insert into installation default values;

-- People. With session, credential, verification and auth_rate_limit, these are the tables better-auth expects.
create table account (
  id uuid primary key default uuid_v7(),
  email text not null unique check (email = lower(email)),
  email_verified boolean not null default false,
  name text not null default '',
  image text,
  plan text not null check (plan in ('free', 'starter', 'pro', 'business', 'enterprise')),
  admin boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table session (
  id uuid primary key default uuid_v7(),
  account_id uuid not null references account on delete cascade,
  token text not null unique,
  expires_at timestamptz not null,
  ip_address text,
  user_agent text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index on session (account_id);
create index on session (expires_at);

-- A way to sign in: the hash of a password, or what an identity provider gave.
create table credential (
  id uuid primary key default uuid_v7(),
  account_id uuid not null references account on delete cascade,
  provider text not null,
  provider_account_id text not null,
  password text,
  access_token text,
  refresh_token text,
  id_token text,
  access_token_expires_at timestamptz,
  refresh_token_expires_at timestamptz,
  scope text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (provider, provider_account_id)
);
create index on credential (account_id);

create table verification (
  id uuid primary key default uuid_v7(),
  identifier text not null,
  value text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index on verification (identifier);
create index on verification (expires_at);

-- last_request: milliseconds since 1970.
create table auth_rate_limit (
  id uuid primary key default uuid_v7(),
  key text not null unique,
  count integer not null,
  last_request bigint not null
);

create table api_token (
  id uuid primary key default uuid_v7(),
  account_id uuid not null references account on delete cascade,
  label text not null default '',
  -- SHA-256; the token itself has 256 random bits, so a slow hash would add nothing.
  hash bytea not null unique,
  last_four text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index on api_token (account_id, id);
