-- Mails that somebody caused to an address that is not proven to be theirs, for the limits on them. A row outlives the
-- channel and the account it was sent for, or deleting those would begin the count anew. The recipient is a keyed hash.
create table outgoing_mail (
  id uuid primary key default uuid_v7(),
  kind text not null,
  recipient bytea not null,
  account_id uuid,
  sent_at timestamptz not null default now()
);
create index on outgoing_mail (kind, recipient, sent_at);
create index on outgoing_mail (kind, account_id, sent_at);
create index on outgoing_mail (kind, sent_at);

-- An address is proven where an administrator or the operator entered it. Accounts made so have their password from the same
-- transaction, with the same microsecond; those of a sign-up have milliseconds of the service.
update account set email_verified = true
from credential
where credential.account_id = account.id and credential.created_at = account.created_at
  and extract(microseconds from account.created_at)::bigint % 1000 <> 0;
