-- Counts captures that are about to be copied into webhook_request, whose numbers nobody else hands out until the end of the
-- transaction: they never become visible out of their order. Whoever counts holds the endpoints' rows, which keeps them from
-- being deleted meanwhile, and fails when one is gone.
create function count_captures(ids uuid[], captured int[]) returns table (id uuid, account_id uuid) language plpgsql as $$
declare
  found_ones int;
begin
  perform pg_advisory_xact_lock(7402153);
  return query
    update webhook_endpoint e set request_count = e.request_count + c.captured
    from unnest(ids, captured) as c (id, captured)
    where e.id = c.id returning e.id, e.account_id;
  get diagnostics found_ones = row_count;
  if found_ones < cardinality(ids) then
    raise foreign_key_violation using message = 'an endpoint of captured requests is gone';
  end if;
end
$$;

-- Requests came as an array of these before they were copied.
drop type captured_request;
