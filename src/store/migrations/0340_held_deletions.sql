-- Deletions that a person must confirm: their folder lost more than half of its messages in one pass.
alter table migration_deletion add column is_held boolean not null default false;
alter table migration_deletion drop constraint migration_deletion_outcome_check;
-- Existing rows met the old constraint, which allowed fewer values, so they need no check.
alter table migration_deletion add constraint migration_deletion_outcome_check
  check (outcome in ('moved', 'returned', 'applied', 'absent')) not valid;
