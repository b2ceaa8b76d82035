// What the digest shows of monitored hosts. Each query reads one workspace and returns a bounded list.
import { sql } from 'kysely'
import { boundedOf, type Bounded, type Period } from '../store/bounded.ts'
import type { Db } from '../store/database.ts'
import type { CertificateState } from './certificates/check-certificates.ts'
import type { MonitoredKind } from './facts/host-facts.sql.ts'

export type ListedHost = { id: string; host: string; label: string; listedCount: number }
export type UncheckedHost = { id: string; host: string; label: string; detail: string | null }
export type HostCertificate = {
  hostId: string
  host: string
  port: string
  state: CertificateState
  /** ISO 8601. */
  validTo: string
}
export type HostChange = {
  hostId: string
  host: string
  at: Date
  name: string
  ip: string | null
  fromState: string
  toState: string
  reason: string | null
}

export async function countMonitored(db: Db, workspaceId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from monitored_host where workspace_id = ${workspaceId}`.execute(
    db,
  )
  return rows[0]?.count ?? 0
}

/** Hosts on critical or major blocklists, most listings first. */
export async function listListedHosts(
  db: Db,
  workspaceId: string,
  limit: number,
): Promise<Bounded<ListedHost>> {
  const { rows } = await sql<ListedHost & { total: number }>`
    select id, host, label, listed_count, count(*) over ()::int as total from monitored_host
    where workspace_id = ${workspaceId} and status = 'listed'
    order by listed_count desc, host limit ${limit}`.execute(db)
  return boundedOf(rows)
}

/** Hosts whose last check had no result. */
export async function listUncheckedHosts(
  db: Db,
  workspaceId: string,
  limit: number,
): Promise<Bounded<UncheckedHost>> {
  const { rows } = await sql<UncheckedHost & { total: number }>`
    select id, host, label, detail, count(*) over ()::int as total from monitored_host
    where workspace_id = ${workspaceId} and status = 'unknown' order by host limit ${limit}`.execute(
    db,
  )
  return boundedOf(rows)
}

const CERTIFICATE = sql`h.id as host_id, h.host, f.subject as port, f.state, f.detail ->> 'validTo' as valid_to,
  count(*) over ()::int as total from monitored_fact f join monitored_host h on h.id = f.host_id`
const VALID_TO = sql`(f.detail ->> 'validTo')::timestamptz`

/** Certificates that clients reject now. */
export async function listBrokenCertificates(
  db: Db,
  workspaceId: string,
  limit: number,
): Promise<Bounded<HostCertificate>> {
  const { rows } = await sql<HostCertificate & { total: number }>`
    select ${CERTIFICATE} where h.workspace_id = ${workspaceId} and f.kind = 'certificate'
      and f.state in ('expired', 'not-yet-valid', 'wrong-host', 'untrusted')
    order by h.host, f.subject limit ${limit}`.execute(db)
  return boundedOf(rows)
}

/** Certificates that expire in the period, the next one first. */
export async function listExpiringCertificates(
  db: Db,
  workspaceId: string,
  { from, to }: Period,
  limit: number,
): Promise<Bounded<HostCertificate>> {
  const { rows } = await sql<HostCertificate & { total: number }>`
    select ${CERTIFICATE} where h.workspace_id = ${workspaceId} and f.kind = 'certificate'
      and ${VALID_TO} >= ${from} and ${VALID_TO} < ${to}
    order by ${VALID_TO}, h.host, f.subject limit ${limit}`.execute(db)
  return boundedOf(rows)
}

/** Certificates that were issued in the period, of hosts that were monitored before. */
export async function listRenewedCertificates(
  db: Db,
  workspaceId: string,
  { from, to }: Period,
  limit: number,
): Promise<Bounded<HostCertificate>> {
  const issued = sql`(f.detail ->> 'validFrom')::timestamptz`
  const { rows } = await sql<HostCertificate & { total: number }>`
    select ${CERTIFICATE} where h.workspace_id = ${workspaceId} and f.kind = 'certificate'
      and f.state = 'valid' and h.created_at < ${from} and ${issued} >= ${from} and ${issued} < ${to}
    order by h.host, f.subject limit ${limit}`.execute(db)
  return boundedOf(rows)
}

/** Changes of one kind, newest first, without the results of first checks. */
export async function listHostChanges(
  db: Db,
  workspaceId: string,
  kind: MonitoredKind,
  { from, to }: Period,
  limit: number,
): Promise<Bounded<HostChange>> {
  const { rows } = await sql<HostChange & { total: number }>`
    select h.id as host_id, h.host, e.at, e.name, e.ip, e.from_state, e.to_state, e.reason,
      count(*) over ()::int as total
    from monitored_host h join monitored_event e on e.host_id = h.id
    where h.workspace_id = ${workspaceId} and e.kind = ${kind} and not e.baseline
      and e.at >= ${from} and e.at < ${to}
    order by e.id desc limit ${limit}`.execute(db)
  return boundedOf(rows)
}
