-- without a transaction: for create index concurrently
drop index concurrently if exists webhook_request_forwarded;
create index concurrently webhook_request_forwarded on webhook_request (id) where forwarded;
-- One index for all that has not ended, in place of two: each delivery is written to all of them.
drop index concurrently if exists webhook_delivery_open;
create index concurrently webhook_delivery_open on webhook_delivery (destination_id, due_at, seq)
  where state in ('waiting', 'sending', 'held');
drop index concurrently if exists webhook_delivery_next;
drop index concurrently if exists webhook_delivery_due;
-- Only destinations with an order by key have one.
drop index concurrently if exists webhook_delivery_keyed;
create index concurrently webhook_delivery_keyed on webhook_delivery (destination_id, order_key, seq)
  where order_key is not null and state in ('waiting', 'sending');
drop index concurrently if exists webhook_delivery_order;
-- That of all deliveries of a request serves as well.
drop index concurrently if exists webhook_delivery_pin;
-- Those that ended lie in about the order in which they did.
drop index concurrently if exists webhook_delivery_ended;
drop index concurrently if exists webhook_delivery_ended_at;
create index concurrently webhook_delivery_ended_at on webhook_delivery using brin (ended_at);
