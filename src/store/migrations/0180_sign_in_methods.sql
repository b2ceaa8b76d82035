-- Sign-in methods besides the password: a second factor, passkeys and an OpenID provider.

alter table account
  add column two_factor_enabled boolean not null default false,
  -- An account that an operator disabled: it cannot sign in, and its API tokens are rejected.
  add column disabled_at timestamptz;

-- The strongest proof that opened the session.
alter table session add column signed_in_with text not null default 'password'
  check (signed_in_with in ('password', 'totp', 'passkey', 'oidc'));

-- Authenticator apps (RFC 6238). Secret and backup codes are encrypted by the authentication library.
create table two_factor (
  id uuid primary key default uuid_v7(),
  account_id uuid not null unique references account on delete cascade,
  secret text not null,
  backup_codes text not null,
  verified boolean not null default false,
  failed_verification_count integer not null default 0,
  locked_until timestamptz
);

-- Passkeys (W3C Web Authentication, level 3).
create table passkey (
  id uuid primary key default uuid_v7(),
  account_id uuid not null references account on delete cascade,
  name text not null,
  -- As base64url, like the specification's JSON.
  credential_id text not null unique,
  public_key bytea not null,
  -- Signature counter; always 0 for passkeys that are synchronized between devices.
  counter bigint not null,
  transports text[] not null default '{}',
  is_backed_up boolean not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index on passkey (account_id, id);

-- One-time secrets that were used: codes of authenticator apps, challenges of passkeys, links of emails. Each is refused a
-- second time until it would have expired anyway.
create table used_secret (
  hash bytea primary key,
  expires_at timestamptz not null
);
create index on used_secret (expires_at);
