-- A third way to sign: HTTP Message Signatures (RFC 9421).
alter table webhook_destination drop constraint webhook_destination_signing_check;
alter table webhook_destination add constraint webhook_destination_signing_check
  check (signing in ('none', 'standard', 'standard-ed25519', 'rfc9421')) not valid;
