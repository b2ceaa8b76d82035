-- What the members of a workspace know about a sender in the reports of a domain.
create table dmarc_sender_mark (
  domain_id uuid not null references dmarc_domain on delete cascade,
  -- `service:sendgrid`, `host:example.net`, `ip:192.0.2.1`
  sender text not null,
  mark text not null check (mark in ('mine', 'not-mine', 'forwarder')),
  marked_at timestamptz not null default now(),
  primary key (domain_id, sender)
);
