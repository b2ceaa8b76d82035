-- Until when a sender has an email. Null for those that the version before sends.
alter table abuse_mail add column claimed_until timestamptz;
