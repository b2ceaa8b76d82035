-- Reports whose network is found later than that of others get an email of their own.
alter table abuse_mail drop constraint abuse_mail_workspace_id_day_recipient_network_is_test_key;
create unique index on abuse_mail (workspace_id, day, recipient, network, is_test) where state = 'waiting';
