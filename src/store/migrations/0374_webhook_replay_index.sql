-- without a transaction: for create index concurrently
drop index concurrently if exists webhook_delivery_replay;
create index concurrently webhook_delivery_replay on webhook_delivery (replay_id) where replay_id is not null;
