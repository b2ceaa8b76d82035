import { sql, type Kysely, type RawBuilder } from 'kysely'
import type { Db } from '../../store/database.ts'
import { containsWords, orderTerm, type Order } from '../../store/order.ts'
import type { DB } from '../../store/tables.ts'
import { availableSince } from '../history/availability.ts'
import { LAST_DAYS, type LastDays } from '../history/host-history.sql.ts'
import type { HostStatus } from '../hosts.sql.ts'

/** The fields of a host in the API as JSON, and what its summary is computed from. */
export type ListedHostRow = LastDays & { json: string }

export type HostFilter = {
  q?: string | undefined
  host?: string | undefined
  status?: HostStatus | undefined
}

export const HOST_ORDERS = ['createdAt', 'host', 'status', 'availability', 'lastCheckAt'] as const
export type HostOrder = Order<(typeof HOST_ORDERS)[number]>

const HAS_CERTIFICATE_PROBLEM = sql`exists (select from monitored_fact f
  where f.host_id = h.id and f.kind = 'certificate' and f.state <> 'valid' and f.detail->>'validTo' is not null)`

/** Listed hosts first, then those with a problem of a certificate. */
const SEVERITY = sql`case when h.status = 'listed' then 0 when ${HAS_CERTIFICATE_PROBLEM} then 1
  else array_position(array['unknown', 'pending', 'clean'], h.status) + 1 end`

/** The clean share of the known time, as `availabilityOf` computes it. Most hosts were always clean. */
function cleanShare(): RawBuilder<unknown> {
  const since = availableSince()
  return sql`case when exists (select from monitored_period p where p.host_id = h.id and p.state <> 'clean') then (
      select coalesce(sum(seconds) filter (where state = 'clean'), 0) / nullif(sum(seconds), 0) from (
        select state, extract(epoch from coalesce(lead(began_at) over (order by began_at), now())
          - greatest(began_at, ${since}))::float8 as seconds
        from monitored_period where host_id = h.id) as period
      where state <> 'unknown' and seconds > 0)
    when exists (select from monitored_period p where p.host_id = h.id) then 1 end`
}

/** Hosts without a value come last in either direction; equal ones are in the order of creation. */
function orderTerms(order: HostOrder): RawBuilder<unknown> {
  const columns = {
    createdAt: sql`h.id`,
    host: sql`natural_name(h.host)`,
    status: SEVERITY,
    availability: cleanShare(),
    lastCheckAt: sql`h.last_check_at`,
  }
  const term = orderTerm(order, columns)
  if (order === 'status') return sql`${term}, h.listed_count desc, h.id`
  if (order === '-status') return sql`${term}, h.listed_count, h.id`
  const isNullable = order.endsWith('availability') || order.endsWith('lastCheckAt')
  return isNullable ? sql`${term} nulls last, h.id` : sql`${term}, h.id`
}

const timestamp = (time: RawBuilder<unknown>) =>
  sql`to_char(${time} at time zone 'UTC', '\\"YYYY-MM-DD"T"HH24:MI:SS.MS"Z"\\"')`
const json = (value: RawBuilder<unknown>) => sql`to_json(${value})::text`
const orNull = (text: RawBuilder<unknown>) => sql`coalesce(${text}, 'null')`

/** Listed addresses of a host in a list. */
const MAX_LISTED_IPS = 8

/**
 * Fields of a host in the API as JSON. The database writes them: a workspace may have 10,000 hosts,
 * and reading and writing each field of them would take seconds. It joins texts in a quarter less
 * time than `row_to_json` takes.
 */
const FIELDS = {
  id: sql`'"' || h.id || '"'`,
  host: json(sql`h.host`),
  label: json(sql`h.label`),
  labels: json(sql`h.labels`),
  lists: sql`h.lists`,
  tlsPorts: json(sql`h.tls_ports`),
  dnsRecords: sql`h.dns_records`,
  status: json(sql`h.status`),
  listedCount: sql`h.listed_count`,
  listedIps: sql`case h.listed_count when 0 then '[]' else (
    select coalesce(json_agg(ip order by ip), '[]')::text from (
      select distinct split_part(f.subject, ' ', 1) as ip from monitored_fact f
      where f.host_id = h.id and f.kind = 'blacklist' and f.state = 'listed' limit ${sql.lit(MAX_LISTED_IPS)}) as listed) end`,
  unknownCount: sql`h.unknown_count`,
  totalChecked: sql`h.total_checked`,
  detail: orNull(json(sql`h.detail`)),
  createdAt: timestamp(sql`h.created_at`),
  lastCheckAt: orNull(timestamp(sql`h.last_check_at`)),
  nextCheckAt: timestamp(sql`least(h.grave_due_at, h.full_due_at, h.recheck_at)`),
}
const NAMED = Object.entries(FIELDS).map(([name, text]) => sql`${sql.lit(`"${name}":`)} || ${text}`)
const JSON_OBJECT = sql`'{' || ${sql.join(NAMED, sql` || ',' || `)} || '}'`

/** Lists the IDs of hosts of a workspace, oldest first unless ordered otherwise. */
export async function listHostIds(
  db: Db,
  workspaceId: string,
  { order = 'createdAt', ...filter }: HostFilter & { order?: HostOrder | undefined },
  { limit, offset }: { limit: number; offset: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select h.id from monitored_host h where ${conditions(workspaceId, filter)}
    order by ${orderTerms(order)} limit ${limit} offset ${offset}`.execute(db)
  return rows.map(({ id }) => id)
}

/**
 * Reads up to a thousand hosts in this order, without those that have been deleted. `offset 0` makes
 * the planner look up each host instead of reading the whole table.
 */
export async function readHosts(db: Kysely<DB>, ids: string[]): Promise<ListedHostRow[]> {
  const { rows } = await sql<ListedHostRow>`
    select ${JSON_OBJECT} as json, ${LAST_DAYS}
    from unnest(${`{${ids.join()}}`}::uuid[]) with ordinality as given (id, n)
    cross join lateral (select * from monitored_host where id = given.id offset 0) as h
    order by given.n`.execute(db.withoutPlugins())
  return rows
}

export async function countHosts(db: Db, workspaceId: string, filter: HostFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from monitored_host h where ${conditions(workspaceId, filter)}`.execute(
    db,
  )
  return rows[0]?.count ?? 0
}

/** Counts the hosts of a workspace by status, and those with a problem of a certificate. */
export async function countByStatus(
  db: Db,
  workspaceId: string,
): Promise<Record<HostStatus | 'certificateProblems', number>> {
  const counts = { pending: 0, clean: 0, listed: 0, unknown: 0, certificateProblems: 0 }
  const { rows } = await sql<{ status: keyof typeof counts; count: number }>`
    select status, count(*) as count from monitored_host where workspace_id = ${workspaceId} group by status
    union all
    select 'certificateProblems', count(*) from monitored_host h
      where h.workspace_id = ${workspaceId} and ${HAS_CERTIFICATE_PROBLEM}`.execute(db)
  for (const { status, count } of rows) counts[status] = count
  return counts
}

function conditions(workspaceId: string, { q, host, status }: HostFilter) {
  const all = [
    sql`h.workspace_id = ${workspaceId}`,
    ...(host === undefined ? [] : [sql`h.host = ${host}`]),
    ...(status === undefined ? [] : [sql`h.status = ${status}`]),
    ...(q
      ? [
          containsWords(
            q,
            sql`concat_ws(E'\\n', h.host, h.label, array_to_string(h.labels, E'\\n'))`,
          ),
        ]
      : []),
  ]
  return sql.join(all, sql` and `)
}
