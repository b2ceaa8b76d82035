-- What {{hmac_sha256 …}} in an endpoint's answer signs with, encrypted; null until it is first needed. Never the secret that
-- verifies senders: anyone may ask for a signature of anything.
alter table webhook_endpoint add column response_secret text;
