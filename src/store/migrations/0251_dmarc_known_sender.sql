-- Senders that a domain had in its reports: each raises one alert, ever.
create table dmarc_known_sender (
  domain_id uuid not null references dmarc_domain on delete cascade,
  -- `service:sendgrid`, `host:example.net`, `ip:192.0.2.1`
  sender text not null,
  first_seen_at timestamptz not null default now(),
  primary key (domain_id, sender)
);
