-- What the last days of a host are computed from, for the list of all hosts: see `LastDays`. Null until the next check
-- of a host that is older than these columns.
alter table monitored_host add column recent_states text, add column first_certificate text;
alter table monitored_host alter column recent_states set default '', alter column first_certificate set default '';

-- The states of a host since about a month ago, with the seconds since 1970 at which they began.
create function monitored_recent_states(host uuid) returns text language sql stable as $$
  select coalesce(string_agg('["' || state || '",' || extract(epoch from began_at) || ']', ',' order by began_at), '')
  from monitored_period
  where host_id = host and began_at >= coalesce(
    (select max(began_at) from monitored_period where host_id = host and began_at <= now() - interval '31 days'), '-infinity')
$$;

-- Of the certificates of a host with a problem, or else of all, the one that expires first.
create function monitored_first_certificate(host uuid) returns text language sql stable as $$
  select coalesce(min(case when state = 'valid' then '1 ' else '0 ' end || (detail->>'validTo') || ' ' || state collate "C"), '')
  from monitored_fact where host_id = host and kind = 'certificate'
$$;

create function monitored_period_changed() returns trigger language plpgsql as $$
begin
  update monitored_host set recent_states = monitored_recent_states(id) where id in (select host_id from changed);
  return null;
end $$;

create function monitored_certificate_changed() returns trigger language plpgsql as $$
begin
  update monitored_host set first_certificate = monitored_first_certificate(id)
  where id in (select host_id from changed where kind = 'certificate');
  return null;
end $$;

create trigger monitored_period_inserted after insert on monitored_period
  referencing new table as changed for each statement execute function monitored_period_changed();
create trigger monitored_fact_inserted after insert on monitored_fact
  referencing new table as changed for each statement execute function monitored_certificate_changed();
create trigger monitored_fact_updated after update on monitored_fact
  referencing new table as changed for each statement execute function monitored_certificate_changed();
create trigger monitored_fact_deleted after delete on monitored_fact
  referencing old table as changed for each statement execute function monitored_certificate_changed();
