-- without a transaction: for create index concurrently
-- Deliveries of an endpoint by their number, and those of a request.
drop index concurrently if exists webhook_delivery_endpoint;
create index concurrently webhook_delivery_endpoint on webhook_delivery (endpoint_id, seq);
drop index concurrently if exists webhook_delivery_request;
create index concurrently webhook_delivery_request on webhook_delivery (request_id);
