import type { Pool } from 'pg'
import { DOMAINS, IDS, LARGEST, WORKSPACES, idSql, workspaceSql } from './sizes.ts'

/** Entries of the largest workspace, and of each of the others. */
const AUDIT_ENTRIES = { largest: 50_000, other: 500 }
const INCIDENTS = { largest: 5_000, other: 50 }

/** Accounts with a workspace each, their audit log, alerts and watched domains. */
export async function fillAccounts(pool: Pool): Promise<void> {
  await pool.query(`
    insert into account (id, email, email_verified, plan, admin)
    select ${idSql('account', 'n')}, 'person' || n || '@people.test', true, 'enterprise', n = 1
    from generate_series(1, ${WORKSPACES}) n;
    insert into workspace (id, name, plan, created_by)
    select ${idSql('workspace', 'n')}, 'Workspace ' || n, 'enterprise', ${idSql('account', 'n')}
    from generate_series(1, ${WORKSPACES}) n;
    insert into membership (workspace_id, account_id, role)
    select ${idSql('workspace', 'n')}, ${idSql('account', 'n')}, 'owner'
    from generate_series(1, ${WORKSPACES}) n;
    insert into audit_entry (at, actor_id, actor_email, what, route, details, workspace_id)
    select now() - i * interval '1 hour' / 10, ${idSql('account', 'n')}, 'person' || n || '@people.test',
      'Change the host mx' || i || '.example.com', 'PATCH /api/v1/monitoring/hosts/{id}',
      json_build_object('params', json_build_object('id', i), 'changed', array['label', 'lists']), ${idSql('workspace', 'n')}
    from generate_series(1, ${WORKSPACES}) n
    cross join lateral generate_series(case when n = 1 then ${AUDIT_ENTRIES.largest} else ${AUDIT_ENTRIES.other} end, 1, -1) i`)
  await fillAlerts(pool)
  await pool.query(`
    insert into watched_domain (id, workspace_id, domain, hosts, state, sentence, checked_at, check_due_at, records_at)
    select ${idSql('watchedDomain', 'n')}, ${workspaceSql('n', LARGEST.domains)}, 'customer' || n || '.example',
      array['mx1.customer' || n || '.example', 'mx2.customer' || n || '.example'],
      case n % 10 when 0 then 'bad' when 1 then 'warning' else 'good' end, 'Mail is delivered.', now(),
      now() + interval '1 day', now()
    from generate_series(1, ${DOMAINS}) n`)
}

/** Every incident has four alerts; one of forty is open. */
async function fillAlerts(pool: Pool): Promise<void> {
  await pool.query(`
    insert into alert_incident (id, workspace_id, key, kind, severity, title, path, alerts, opened_at, updated_at, resolved_at)
    select ${idSql('incident', 'n * 100000 + i')}, ${idSql('workspace', 'n')}, 'incident ' || i,
      (array['monitoring.listed', 'webhook.silent', 'dmarc.failures'])[1 + i % 3],
      (array['critical', 'error', 'warning', 'info'])[1 + i % 4],
      'mx' || i || '.example.com is listed at zen.spamhaus.org', '/monitoring', 4, opened, opened + interval '3 hours',
      case when i % 40 > 0 then opened + interval '3 hours' end
    from generate_series(1, ${WORKSPACES}) n
    cross join lateral generate_series(1, case when n = 1 then ${INCIDENTS.largest} else ${INCIDENTS.other} end) i
    cross join lateral (select now() - (6000 - i) * interval '20 minutes' as opened) o;
    insert into alert (workspace_id, kind, key, title, text, next_step, at, created_at, path, incident_id, phase, severity)
    select workspace_id, kind, key || ' ' || phase, title, repeat(title || '. ', 3), 'Start delisting.', at, at, path, id,
      (array['open', 'update', 'update', 'resolved'])[1 + phase], severity
    from (select i.*, phase, opened_at + phase * interval '1 hour' as at from alert_incident i cross join generate_series(0, 3) phase) a
    order by at;
    insert into alert_channel (id, workspace_id, type, target, confirmed_at)
    select bench_id(${IDS.channel}, n), ${idSql('workspace', 'n')}, 'email', 'person' || n || '@people.test', now()
    from generate_series(1, ${WORKSPACES}) n`)
}
