-- Milliseconds of the phases of an attempt; null for one that was not reached, or that a connection in use had behind it.
alter table webhook_attempt add column dns_ms real;
alter table webhook_attempt add column connect_ms real;
alter table webhook_attempt add column tls_ms real;
alter table webhook_attempt add column first_byte_ms real;
