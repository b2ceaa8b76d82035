-- What an endpoint's captures have taken since its creation, counted with the captures themselves.
alter table webhook_endpoint add column captured_bytes bigint not null default 0;
-- What a captured request takes; null for those from before, whose size is taken from their columns.
alter table webhook_request add column stored_bytes integer;

-- What of that was deleted again. In a table of its own, and not referring to the endpoint, so that deleting requests never
-- waits for capturing them: only those who take turns deleting write here.
create table webhook_deleted (
  endpoint_id uuid primary key,
  bytes bigint not null
) with (fillfactor = 50);

update webhook_endpoint e set captured_bytes = s.bytes
from (
  select endpoint_id,
    sum(octet_length(body) + octet_length(path) + octet_length(query) + octet_length(headers::text) + 200) as bytes
  from webhook_request group by endpoint_id) s
where e.id = s.endpoint_id;

create or replace function delete_webhook_requests() returns trigger language plpgsql as $$
begin
  perform take_turn_deleting_requests();
  delete from webhook_request where endpoint_id = old.id;
  delete from webhook_deleted where endpoint_id = old.id;
  return null;
end
$$;

-- As before, and what they take. Instances of the version before call it without.
drop function count_captures(uuid[], int[]);
create function count_captures(ids uuid[], captured int[], bytes bigint[] default '{}')
returns table (id uuid, account_id uuid) language plpgsql as $$
declare
  found_ones int;
begin
  perform pg_advisory_xact_lock(7402153);
  return query
    update webhook_endpoint e set
      request_count = e.request_count + c.captured,
      captured_bytes = e.captured_bytes + coalesce(c.bytes, 0)
    from unnest(ids, captured, bytes) as c (id, captured, bytes)
    where e.id = c.id returning e.id, e.account_id;
  get diagnostics found_ones = row_count;
  if found_ones < cardinality(ids) then
    raise foreign_key_violation using message = 'an endpoint of captured requests is gone';
  end if;
end
$$;

-- Bytes of report files that an account keeps.
create table account_usage (
  account_id uuid primary key references account on delete cascade,
  report_bytes bigint not null default 0
) with (fillfactor = 50);

insert into account_usage (account_id, report_bytes)
select account_id, sum(octet_length(content)) from dmarc_delivery
where account_id is not null and content is not null group by account_id;

create function count_report_bytes() returns trigger language plpgsql as $$
declare
  account uuid := coalesce(new.account_id, old.account_id);
  change bigint := coalesce(octet_length(new.content), 0) - coalesce(octet_length(old.content), 0);
begin
  -- Less is only ever subtracted: where an account goes with its files, its row here may have gone before them.
  if change > 0 and account is not null then
    insert into account_usage as u (account_id, report_bytes) values (account, change)
    on conflict (account_id) do update set report_bytes = u.report_bytes + change;
  elsif change < 0 then
    update account_usage set report_bytes = report_bytes + change where account_id = account;
  end if;
  return null;
end
$$;
create trigger count_report_bytes after insert or delete or update of content on dmarc_delivery
  for each row execute function count_report_bytes();

-- When the oldest file of an account expires.
create index on dmarc_delivery (account_id, received_at) where content is not null;

alter table shared_check add column bytes integer;
update shared_check set bytes = octet_length(results::text);
alter table shared_check alter column bytes set not null;
