-- The network of a client whose requests cause emails, as a keyed hash: it has a share of those that anyone can cause.
-- A request that caused no email, because its address has no account, counts for its network and address all the same.
alter table outgoing_mail add column network bytea;
alter table outgoing_mail add column is_sent boolean not null default true;
