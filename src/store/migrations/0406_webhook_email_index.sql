-- without a transaction: for create index concurrently
drop index concurrently if exists webhook_endpoint_email_token;
create unique index concurrently webhook_endpoint_email_token on webhook_endpoint (email_token) where email_token is not null;
