import { sql } from 'kysely'
import type { Db } from '../store/database.ts'
import type { ListModes } from './blocklists/modes.ts'
import type { HOST_STATUSES } from './shapes.ts'
import {
  countRows,
  deleteRows,
  findRow,
  listRows,
  lockAndCountRows,
  type Row,
} from '../store/row.ts'

export type HostStatus = (typeof HOST_STATUSES)[number]

/** Columns of a `HostRow`. */
export const HOST = [
  'id',
  'workspaceId',
  'host',
  'label',
  'labels',
  'lists',
  'tlsPorts',
  'dnsRecords',
  'status',
  'listedCount',
  'unknownCount',
  'totalChecked',
  'detail',
  'createdAt',
  'lastCheckAt',
  'graveDueAt',
  'fullDueAt',
  'sideDueAt',
  'recheckAt',
  'run',
] as const

export type HostRow = Row<'monitoredHost', typeof HOST, { lists: ListModes; status: HostStatus }>

export type HostSettings = Partial<
  Pick<HostRow, 'label' | 'labels' | 'lists' | 'tlsPorts' | 'dnsRecords'>
>

/** @returns undefined when the workspace already monitors this host */
export async function insertHost(
  db: Db,
  {
    workspaceId,
    host,
    lists = {},
    ...settings
  }: HostSettings & { workspaceId: string; host: string },
): Promise<HostRow | undefined> {
  const row = await db
    .insertInto('monitoredHost')
    .values({ workspaceId, host, lists: JSON.stringify(lists), ...settings })
    .onConflict((conflict) => conflict.doNothing())
    .returning(HOST)
    .executeTakeFirst()
  return row as HostRow | undefined
}

export async function countHosts(db: Db, workspaceId: string): Promise<number> {
  return countRows(db, 'monitoredHost', { workspaceId })
}

/** Counts like `countHosts`, and locks the workspace until the transaction ends. */
export async function lockAndCountHosts(db: Db, workspaceId: string): Promise<number> {
  return lockAndCountRows(db, 'monitoredHost', workspaceId)
}

/** Inserts hosts in one statement. @returns those that the workspace did not have */
export async function insertHosts(
  db: Db,
  workspaceId: string,
  hosts: { host: string; label: string; tlsPorts: number[] }[],
): Promise<{ id: string; host: string }[]> {
  if (hosts.length === 0) return []
  return db
    .insertInto('monitoredHost')
    .values(hosts.map((host) => ({ workspaceId, lists: '{}', ...host })))
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'host'])
    .execute()
}

/** Lists the hosts of a workspace, oldest first. */
export async function listHosts(db: Db, workspaceId: string): Promise<HostRow[]> {
  return listRows(db, 'monitoredHost', HOST, { workspaceId }, 'id')
}

/** What other modules show of a host. */
export type HostState = Pick<HostRow, 'id' | 'host' | 'status'>

/** Lists the hosts of a workspace, oldest first, without their settings and times. */
export async function listHostStates(db: Db, workspaceId: string): Promise<HostState[]> {
  return listRows(db, 'monitoredHost', ['id', 'host', 'status'], { workspaceId }, 'id')
}

/** Lists hosts, listed ones first, then those that could not be checked, and counts all of them. */
export async function listHostsByStatus(
  db: Db,
  workspaceId: string,
  limit: number,
): Promise<{ hosts: Pick<HostRow, 'id' | 'host' | 'label'>[]; total: number }> {
  const total = await countHosts(db, workspaceId)
  const hosts = await db
    .selectFrom('monitoredHost')
    .select(['id', 'host', 'label'])
    .where('workspaceId', '=', workspaceId)
    .orderBy(sql`array_position(array['listed', 'unknown'], status)`)
    .orderBy('host')
    .limit(limit)
    .execute()
  return { hosts, total }
}

export async function findHost(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<HostRow | undefined> {
  return findRow(db, 'monitoredHost', HOST, { workspaceId, id })
}

/** Updates the given settings, and makes a full check due where they change what is checked. */
export async function updateHost(
  db: Db,
  workspaceId: string,
  id: string,
  { lists, ...settings }: HostSettings,
): Promise<HostRow | undefined> {
  const changesChecks = [lists, settings.tlsPorts, settings.dnsRecords].some(
    (setting) => setting !== undefined,
  )
  const row = await db
    .updateTable('monitoredHost')
    .set({
      ...settings,
      ...(lists && { lists: JSON.stringify(lists) }),
      ...(changesChecks && { fullDueAt: sql<Date>`now()`, sideDueAt: sql<Date>`now()` }),
      id,
    })
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .returning(HOST)
    .executeTakeFirst()
  return row as HostRow | undefined
}

export async function deleteHost(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return deleteRows(db, 'monitoredHost', { workspaceId, id })
}
