-- without a transaction: so that emails are counted while the index is created
drop index concurrently if exists outgoing_mail_network;
create index concurrently outgoing_mail_network on outgoing_mail (kind, network, sent_at) where network is not null;
