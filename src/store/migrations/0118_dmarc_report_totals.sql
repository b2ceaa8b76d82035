-- The sums of a report are over all of its records. They left out those from outside the domain, which only the statistics do.
update dmarc_report r set
  messages = s.messages,
  aligned = s.aligned,
  detail = r.detail || jsonb_build_object('disposition', jsonb_build_object(
    'none', s.messages - s.quarantined - s.rejected, 'quarantine', s.quarantined, 'reject', s.rejected))
from (
  select p.report_id,
    sum(e.messages) as messages,
    coalesce(sum(e.messages) filter (where 'pass' in (e.evaluated ->> 'dkim', e.evaluated ->> 'spf')), 0) as aligned,
    coalesce(sum(e.messages) filter (where e.evaluated ->> 'disposition' = 'quarantine'), 0) as quarantined,
    coalesce(sum(e.messages) filter (where e.evaluated ->> 'disposition' = 'reject'), 0) as rejected
  from dmarc_report o
  join dmarc_records p on p.report_id = o.id
  cross join lateral (
    select (record ->> 'count')::bigint as messages, record -> 'policyEvaluated' as evaluated
    from json_array_elements(p.records) as one (record)) e
  where o.outside > 0
  group by p.report_id) s
where s.report_id = r.id;
