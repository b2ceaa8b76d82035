import type { Pool } from 'pg'
import { HOSTS, LARGEST, idSql, workspaceSql } from './sizes.ts'

/** Hosts with their facts, changes and periods of 90 days. One of ten is listed. */
export async function fillMonitoring(pool: Pool): Promise<void> {
  const host = idSql('host', 'n')
  const hosts = `generate_series(1, ${HOSTS}) n`
  // Ten hosts of each watched domain.
  const name = `'mx' || 1 + (n - 1) / ${LARGEST.domains} || '.customer' || 1 + (n - 1) % ${LARGEST.domains} || '.example'`
  const address = `host('203.0.0.0'::inet + n)`
  await pool.query(`
    insert into monitored_host (id, workspace_id, host, label, status, listed_count, total_checked, last_check_at,
      grave_due_at, full_due_at, side_due_at, tls_ports)
    select ${host}, ${workspaceSql('n', LARGEST.hosts)}, ${name}, 'customer ' || n % 300,
      case when n % 10 = 0 then 'listed' else 'clean' end, case when n % 10 = 0 then 2 else 0 end, 90, now(),
      now() + interval '1 hour', now() + interval '1 day', now() + interval '3 hours', array[25, 443]
    from ${hosts};
    insert into monitored_address (host_id, ip, seen, last_seen_at) select ${host}, ${address}, '{a}', now() from ${hosts};
    insert into monitored_fact (host_id, kind, subject, state, detail, since)
    select ${host}, kind, subject, state, detail, now() - interval '9 days' from ${hosts} cross join lateral (
      select 'blacklist' as kind, ${address} || ' ' || zone as subject, 'listed' as state,
        '{"codes": ["127.0.0.2"], "meanings": ["SBL"], "reason": "https://check.example/query"}'::jsonb as detail
      from unnest(array['zen.spamhaus.org', 'bl.spamcop.net']) zone where n % 10 = 0
      union all select 'certificate', port, 'valid', jsonb_build_object('validFrom', now() - interval '30 days',
        'validTo', now() + n % 90 * interval '1 day', 'issuer', 'R11', 'names', array[${name}],
        'fingerprint256', md5(n::text), 'trustError', null) from unnest(array['25', '443']) port
      union all select 'dns', ${name} || ' ' || type, 'present', jsonb_build_object('values', array[${address}])
      from unnest(array['A', 'MX', 'NS', 'TXT']) type) f;
    insert into monitored_period (host_id, began_at, state)
    select ${host}, now() - p * interval '14 days', case when (p + n / 10) % 2 = 0 and n % 10 = 0 then 'listed' else 'clean' end
    from ${hosts} cross join generate_series(0, 6) p;
    insert into monitored_event (host_id, at, kind, name, dnsbl, ip, from_state, to_state, codes)
    select ${host}, now() - (30 - e) * interval '3 days', 'blacklist', 'Spamhaus ZEN', 'zen.spamhaus.org', ${address},
      case when e % 2 = 0 then 'clean' else 'listed' end, case when e % 2 = 0 then 'listed' else 'clean' end, '{127.0.0.2}'
    from generate_series(1, 30) e cross join ${hosts}`)
}
