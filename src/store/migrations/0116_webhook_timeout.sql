-- A timeout comes back as it was given; `real` refuses the smallest numbers there are.
alter table webhook_endpoint alter column timeout type float8;
