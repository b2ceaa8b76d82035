-- The secret part of the address by which an endpoint receives mail; null for none.
alter table webhook_endpoint add column email_token text;
