-- squawk-ignore-file require-concurrent-index-creation
-- The table is small.
-- The owner of a mailbox, who has signed in by a link, can withdraw that on a page of their own.
alter table owner_link
  -- SHA-256 of the token of that page, which only the owner gets.
  add column owner_hash bytea,
  add column withdrawn_at timestamptz,
  -- A new link for the same side replaces an open one; the page of the owner stays until they use it.
  drop constraint owner_link_migration_id_side_key,
  drop constraint owner_link_mailbox_id_side_key;
create unique index owner_link_owner_hash on owner_link (owner_hash);
create unique index owner_link_open_of_migration on owner_link (migration_id, side) where used_at is null;
create unique index owner_link_open_of_mailbox on owner_link (mailbox_id, side) where used_at is null;
create index owner_link_migration on owner_link (migration_id);
create index owner_link_mailbox on owner_link (mailbox_id);
