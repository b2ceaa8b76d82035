-- Requests that have destinations, by which workers find them among many; null for all others, which pay for no index.
alter table webhook_request add column forwarded boolean;

-- In place of a foreign key, whose check locks and rewrites the row of a delivery for each attempt: attempts are
-- written in the statement that holds it, and go when it goes.
alter table webhook_attempt drop constraint webhook_attempt_delivery_id_fkey;
create function delete_webhook_attempts() returns trigger language plpgsql as $$
begin
  delete from webhook_attempt a using gone g where a.delivery_id = g.id;
  return null;
end
$$;
create trigger delete_attempts after delete on webhook_delivery
  referencing old table as gone for each statement execute function delete_webhook_attempts();
