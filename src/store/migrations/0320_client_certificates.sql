-- Clients that authenticate themselves with a certificate in place of a secret.
alter table mail_client
  -- The certificate, PEM.
  add column certificate text,
  -- Its private key, encrypted.
  add column sealed_key text;

-- Of an application of an administrator, PEM; its private key is in `sealed`.
alter table mail_credential add column certificate text;
