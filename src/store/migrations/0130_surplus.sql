-- Bytes that followed the request where the next one would begin, and are none: {size, start (base64), responseStatus}.
alter table webhook_request add column surplus json;
