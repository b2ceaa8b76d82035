import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { createPartitions } from '../../src/abuse/intake/intake.sql.ts'
import { ensurePartitions } from '../../src/abuse/intake/partitions.ts'
import { SERVICES } from '../../src/abuse/services.ts'
import type { DB } from '../../src/store/tables.ts'
import { DAY_MS } from '../../src/time.ts'
import type { Task } from './lanes.ts'
import { ATTACK_DAYS, WORKSPACES, idSql, type Sizes } from './sizes.ts'

const NETWORKS = 50_000
const SYSTEMS = 2_000
const MAX_LISTED = 300_000
const AWAITING = 500
const FLEET = { bans: 20_000, changes: 100_000 }

/** Services by how often they are attacked. */
const NAMES = `array[${SERVICES.map(({ id }) => `'${id}'`).join(', ')}]`
const SERVICE = `(${NAMES})[1 + floor(${SERVICES.length} * power(random(), 3))::integer]`

/** The n-th address, as `knownAddress` of the other benchmark counts them. */
const ADDRESS = (n: string) => `'41.0.0.1'::inet + (${n} * 7919 % 16000000) * 16`
const PSEUDONYM = (kind: string, n: string) => `left(md5('${kind}' || ${n}), 22)`

/** Creates the partitions as the service does, and one of a day that has expired. */
export async function createReportPartitions(db: Kysely<DB>, now: number): Promise<void> {
  const days = reportDays(now)
  await db.transaction().execute((trx) => createPartitions(trx, days))
  await ensurePartitions(db, now)
}

/** The expired day, then the others until yesterday. */
function reportDays(now: number): string[] {
  return Array.from({ length: ATTACK_DAYS + 1 }, (_, index) =>
    new Date(now - (ATTACK_DAYS + 1 - index) * DAY_MS).toISOString().slice(0, 10),
  )
}

/** Reports, a few attackers and reporters having most of them, and what is derived from them. */
export function attackTasks(pool: Pool, { reports, addresses }: Sizes, now: number): Task[] {
  const perDay = Math.ceil(reports / ATTACK_DAYS)
  return [
    ...reportDays(now).map(
      (day): Task =>
        () =>
          fillReports(pool, { day, rows: perDay, addresses }),
    ),
    () => fillAddresses(pool, { reports, addresses }),
    () => fillCounts(pool, reports),
    () => fillFleet(pool),
  ]
}

/** A tenth of the reports is of one token, half of the others’ tokens, the rest anonymous. */
async function fillReports(
  pool: Pool,
  { day, rows, addresses }: { day: string; rows: number; addresses: number },
): Promise<void> {
  await pool.query(`
    insert into abuse_report_${day.replaceAll('-', '')}
      (at, address, service, port, count, network, origin, strong, counted, early, token_id)
    select '${day} 00:00:00+00'::timestamptz + i * interval '86399 seconds' / ${rows}, ${ADDRESS('a')}, ${SERVICE},
      case when t < 0.5 then 22 end, 1 + floor(20 * power(random(), 4))::integer, ${PSEUDONYM('network', 'r')},
      ${PSEUDONYM('origin', 'r / 3')}, t < 0.7, t < 0.9, t < 0.05,
      case when t < 0.1 then ${idSql('reportToken', '1')}
        when t < 0.6 then ${idSql('reportToken', `2 + r % ${WORKSPACES - 1}`)} end
    from (select i, random() as t, floor(${addresses} * power(random(), 3))::bigint as a,
      floor(${NETWORKS} * power(random(), 2))::integer as r from generate_series(0, ${rows - 1}) i) s`)
}

async function fillAddresses(
  pool: Pool,
  { reports, addresses }: { reports: number; addresses: number },
) {
  const listed = Math.min(MAX_LISTED, Math.round(addresses / 4))
  const entry = (
    which: number,
  ) => `json_build_array(${PSEUDONYM('network', `n % ${NETWORKS / which}`)},
    ${PSEUDONYM('origin', `n % ${NETWORKS / which}`)}, '${which === 1 ? 'ssh' : 'imap'}', 'established', 0, 20, at, at, at, 1, 20, 22)`
  await pool.query(`
    insert into abuse_address (address, state, score, confidence, evidence, services, networks, total_reports,
      first_reported_at, last_reported_at, due_at, published, confirmation, revision)
    select ${ADDRESS('n')}, case when n < ${listed} then 'listed' when awaiting or n % 3 = 0 then 'watchlist' else 'observed' end,
      case when n < ${listed} then 72.7 else 37.8 end, 'medium', json_build_array(${entry(1)}, ${entry(2)}),
      array['ssh', 'imap'], 2 + n % 5,
      greatest(1, ${reports} * (power((n + 1.0) / ${addresses}, 1 / 3.0) - power(n / ${addresses}.0, 1 / 3.0)))::integer,
      now() - interval '20 days', now() - interval '1 hour', now() + interval '1 day', n < ${listed},
      case when awaiting then 'awaiting' else 'none' end, 1
    from (select n, n >= ${listed} and n < ${listed + AWAITING} as awaiting,
      floor(extract(epoch from now()) * 1000)::bigint - 3600000 - n % 86400000 as at from generate_series(0::bigint, ${addresses - 1}) n) a;
    update abuse_snapshot set count = ${listed}, ready_at = null`)
}

async function fillCounts(pool: Pool, reports: number): Promise<void> {
  const days = `generate_series(current_date - ${ATTACK_DAYS - 1}, current_date, interval '1 day')`
  const services = `unnest(${NAMES}) with ordinality s (service, place)`
  const perService = (rows: number) => `(${Math.ceil(reports / rows)} / place)::bigint + 1`
  await pool.query(`
    insert into abuse_network (network, origin, standing, first_seen_at, last_seen_at, established_at)
    select ${PSEUDONYM('network', 'r')}, ${PSEUDONYM('origin', 'r / 3')}, case when r % 3 = 0 then 'new' else 'established' end,
      now() - interval '90 days', now() - (r % 40) * interval '1 day', case when r % 3 > 0 then now() end
    from generate_series(0, ${NETWORKS - 1}) r;
    insert into abuse_count (hour, service, lane, reports)
    select day + hour * interval '1 hour', service, 1, ${perService(ATTACK_DAYS * 24 * 4)}
    from ${days} day cross join generate_series(0, 23) hour cross join ${services};
    insert into abuse_system_count (day, network, name, service, lane, reports)
    select day::date, 'AS' || 64512 + system, 'Example Network ' || system, service, 1, ${perService(ATTACK_DAYS * SYSTEMS)}
    from ${days} day cross join generate_series(1, ${SYSTEMS}) system
    cross join (select * from ${services} limit 5) s;
    insert into abuse_token (id, workspace_id, label, hash, last_four)
    select ${idSql('reportToken', 'n')}, ${idSql('workspace', 'n')}, 'mail server', sha256(n::text::bytea), '0000'
    from generate_series(1, ${WORKSPACES}) n;
    insert into abuse_token_count (token_id, day, service, reports)
    select ${idSql('reportToken', 'n')}, day::date, service,
      case when n = 1 then ${perService(ATTACK_DAYS * 10)} else ${perService(ATTACK_DAYS * 1000)} end
    from generate_series(1, ${WORKSPACES}) n cross join ${days} day cross join ${services}
    where n = 1 or place <= 5`)
}

/** Bans of the largest workspace’s servers and of a small one’s, and their history. */
async function fillFleet(pool: Pool): Promise<void> {
  await pool.query(`
    insert into fleet (workspace_id, cursor)
    select ${idSql('workspace', 'n')}, ${FLEET.changes} from generate_series(1, 2) n;
    insert into fleet_ban (workspace_id, address, expires_at, banned_at, ban_seconds, bans, change, reason)
    select ${idSql('workspace', 'w')}, ${ADDRESS('n')}, now() + n % 86400 * interval '1 second', now(), 86400, 1, n, 'ssh'
    from (values (1, ${FLEET.bans}), (2, 200)) w (w, bans) cross join lateral generate_series(1::bigint, bans) n;
    insert into fleet_change (workspace_id, number, address, kind, expires_at, cause, at)
    select ${idSql('workspace', 'w')}, n, ${ADDRESS(`(n % ${FLEET.bans})`)}, 'banned', now(), '{"by": "report"}',
      now() - (changes - n) * interval '20 seconds'
    from (values (1, ${FLEET.changes}), (2, 1000)) w (w, changes) cross join lateral generate_series(1::bigint, changes) n`)
}
