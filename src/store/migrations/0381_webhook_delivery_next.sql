-- without a transaction: for create index concurrently
-- The next deliveries of a destination in their order: of many that are due since the same moment, a claim read all.
drop index concurrently if exists webhook_delivery_next;
create index concurrently webhook_delivery_next on webhook_delivery (destination_id, due_at, seq) where state = 'waiting';
