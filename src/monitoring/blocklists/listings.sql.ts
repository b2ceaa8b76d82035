import { sql, type Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import { deleteRows } from '../../store/row.ts'
import type { DB } from '../../store/tables.ts'
import type { ListMode, ListModes } from './modes.ts'
import type { HostRow } from '../hosts.sql.ts'
import { ADVISORY_LOCKS } from '../../store/advisory-locks.ts'

export type HostAddressRow = {
  hostId: string
  ip: string
  seen: string[]
  unknown: string[]
  lastSeenAt: Date
}

export async function listAddresses(db: Db, hostIds: string[]): Promise<HostAddressRow[]> {
  return db
    .selectFrom('monitoredAddress')
    .selectAll()
    .where('hostId', 'in', hostIds)
    .orderBy('ip')
    .execute()
}

export async function saveAddress(db: Db, row: HostAddressRow): Promise<void> {
  const { seen, unknown, lastSeenAt } = row
  await db
    .insertInto('monitoredAddress')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['hostId', 'ip']).doUpdateSet({ seen, unknown, lastSeenAt }),
    )
    .execute()
}

/** Deletes an address with its facts. */
export async function deleteAddress(db: Db, hostId: string, ip: string): Promise<void> {
  await deleteRows(db, 'monitoredAddress', { hostId, ip })
  await db
    .deleteFrom('monitoredFact')
    .where('hostId', '=', hostId)
    .where('kind', '=', 'blacklist')
    .where(sql<boolean>`starts_with(subject, ${`${ip} `})`)
    .execute()
}

/** Locks until the transaction ends: two hosts with the same address raise one alert, not two. */
export async function lockListingAlerts(trx: Transaction<DB>, workspaceId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.blocklistAlert}, hashtext(${workspaceId}))`.execute(
    trx,
  )
}

/** Whether another host of the workspace has this listing, so that its alert exists already. */
export async function isListedElsewhere(db: Db, host: HostRow, subject: string): Promise<boolean> {
  const row = await db
    .selectFrom('monitoredFact as fact')
    .innerJoin('monitoredHost as host', 'host.id', 'fact.hostId')
    .select('fact.hostId')
    .where('fact.kind', '=', 'blacklist')
    .where('fact.subject', '=', subject)
    .where('fact.state', '=', 'listed')
    .where('host.workspaceId', '=', host.workspaceId)
    .where('host.id', '!=', host.id)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Lists the monitored hosts of the workspace on which these addresses are listed. */
export async function listListedHosts(
  db: Db,
  workspaceId: string,
  ips: string[],
): Promise<{ ip: string; hostId: string }[]> {
  const { rows } = await sql<{ ip: string; hostId: string }>`
    select distinct split_part(fact.subject, ' ', 1) as ip, fact.host_id
    from monitored_fact fact join monitored_host host on host.id = fact.host_id
    where host.workspace_id = ${workspaceId} and fact.kind = 'blacklist' and fact.state = 'listed'
      and split_part(fact.subject, ' ', 1) = any(${ips})`.execute(db)
  return rows
}

export type MonitoredIp = { workspaceId: string; ip: string; since: Date }

/**
 * Lists hosts with this address that are listed on one of these zones, or were removed there since
 * then.
 */
export async function listMonitoringHosts(
  db: Db,
  { workspaceId, ip, since }: MonitoredIp,
  zones: string[],
): Promise<{ zone: string; lists: ListModes }[]> {
  const { rows } = await sql<{ zone: string; lists: ListModes }>`
    select zone, host.lists from monitored_host host cross join unnest(${zones}::text[]) as zone
    where host.workspace_id = ${workspaceId} and (
      exists (select from monitored_fact fact where fact.host_id = host.id and fact.kind = 'blacklist'
        and fact.subject = ${ip} || ' ' || zone and fact.state = 'listed')
      or exists (select from monitored_event event where event.host_id = host.id and event.kind = 'blacklist'
        and event.ip = ${ip} and event.dnsbl = zone and event.to_state = 'clean' and event.at >= ${since}))`.execute(
    db,
  )
  return rows
}

/** Lists the modes that these workspaces set, by workspace. */
export async function listWorkspaceModes(
  db: Db,
  workspaceIds: string[],
): Promise<Map<string, ListModes>> {
  const rows = await db
    .selectFrom('monitoredList')
    .selectAll()
    .where('workspaceId', 'in', workspaceIds)
    .execute()
  const grouped = Map.groupBy(rows, ({ workspaceId }) => workspaceId)
  return new Map(
    Array.from(grouped, ([id, all]) => [
      id,
      Object.fromEntries(all.map(({ zone, mode }) => [zone, mode as ListMode])),
    ]),
  )
}

/** Sets the mode of a blocklist for a workspace; null restores the default. */
export async function setWorkspaceMode(
  db: Db,
  workspaceId: string,
  zone: string,
  mode: ListMode | null,
): Promise<void> {
  if (mode === null) {
    await deleteRows(db, 'monitoredList', { workspaceId, zone })
    return
  }
  await db
    .insertInto('monitoredList')
    .values({ workspaceId, zone, mode })
    .onConflict((conflict) => conflict.columns(['workspaceId', 'zone']).doUpdateSet({ mode }))
    .execute()
}
