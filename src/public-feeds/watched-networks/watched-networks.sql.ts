import { sql, type Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import type { DB } from '../../store/tables.ts'
import { countRows, findRow, type Row } from '../../store/row.ts'

const NETWORK = ['id', 'workspaceId', 'network', 'label', 'checkedAt', 'createdAt'] as const

export type WatchedNetwork = Row<'watchedNetwork', typeof NETWORK>

/** Lists the networks of a workspace, with the number of their open findings. */
export async function listWatched(db: Db, workspaceId: string) {
  const { rows } = await sql<WatchedNetwork & { open: number }>`
    select n.id, n.workspace_id, n.network, n.label, n.checked_at, n.created_at,
      (select count(*)::int from watched_finding f where f.network_id = n.id and f.resolved_at is null) as open
    from watched_network n where n.workspace_id = ${workspaceId} order by n.network`.execute(db)
  return rows
}

export async function findWatched(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<WatchedNetwork | undefined> {
  return findRow(db, 'watchedNetwork', NETWORK, { workspaceId, id })
}

/** Undefined when the workspace watches the network already. */
export async function insertWatched(
  db: Db,
  row: { workspaceId: string; network: string; label: string },
): Promise<WatchedNetwork | undefined> {
  return db
    .insertInto('watchedNetwork')
    .values(row)
    .onConflict((conflict) => conflict.columns(['workspaceId', 'network']).doNothing())
    .returning(NETWORK)
    .executeTakeFirst()
}

export async function countWatched(db: Db, workspaceId: string): Promise<number> {
  return countRows(db, 'watchedNetwork', { workspaceId })
}

export async function deleteWatched(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<{ network: string } | undefined> {
  return db
    .deleteFrom('watchedNetwork')
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .returning('network')
    .executeTakeFirst()
}

/** Lists networks that are due, those that have waited longest first. */
export async function listDue(
  db: Db,
  { before, limit }: { before: Date; limit: number },
): Promise<WatchedNetwork[]> {
  return db
    .selectFrom('watchedNetwork')
    .select(NETWORK)
    .where((eb) => eb.or([eb('checkedAt', 'is', null), eb('checkedAt', '<', before)]))
    .where((eb) => eb.not(isInDeletedWorkspace('watched_network.workspace_id')))
    .orderBy('checkedAt', (order) => order.asc().nullsFirst())
    .limit(limit)
    .execute()
}

/** Locks a network for the result of a check; undefined when it was deleted. */
export async function lockWatched(db: Transaction<DB>, id: string, checkedAt: Date) {
  return db
    .updateTable('watchedNetwork')
    .set({ checkedAt })
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst()
}

/** Listed addresses of the attack list in a network. */
export async function listListedIn(db: Db, network: string, limit: number): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select address from abuse_address
    where state = 'listed' and address <<= ${network}::inet
    order by address limit ${limit}`.execute(db)
  return rows.map(({ address }) => address)
}

export type Finding = { list: string; entry: string }
export type FindingRow = Finding & { id: string; foundAt: Date; resolvedAt: Date | null }

export async function listOpen(db: Db, networkId: string): Promise<FindingRow[]> {
  return db
    .selectFrom('watchedFinding')
    .select(['id', 'list', 'entry', 'foundAt', 'resolvedAt'])
    .where('networkId', '=', networkId)
    .where('resolvedAt', 'is', null)
    .orderBy('list')
    .orderBy('entry')
    .execute()
}

/** Lists findings, open ones first, then the last that were resolved. */
export async function listFindings(
  db: Db,
  networkId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: FindingRow[]; total: number }> {
  const { rows } = await sql<FindingRow & { total: number }>`
    select id, list, entry, found_at, resolved_at, count(*) over ()::int as total
    from watched_finding where network_id = ${networkId}
    order by resolved_at desc nulls first, list, entry, id limit ${limit} offset ${offset}`.execute(
    db,
  )
  return { rows: rows.map(({ total: _total, ...row }) => row), total: rows[0]?.total ?? 0 }
}

export async function insertFindings(
  db: Transaction<DB>,
  networkId: string,
  findings: Finding[],
  foundAt: Date,
): Promise<void> {
  if (findings.length === 0) return
  await db
    .insertInto('watchedFinding')
    .values(findings.map((finding) => ({ networkId, ...finding, foundAt })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export async function resolveFindings(
  db: Transaction<DB>,
  ids: string[],
  resolvedAt: Date,
): Promise<void> {
  if (ids.length === 0) return
  await db.updateTable('watchedFinding').set({ resolvedAt }).where('id', 'in', ids).execute()
}

export async function listWatchedCidrs(db: Db, workspaceId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('watchedNetwork')
    .select('network')
    .where('workspaceId', '=', workspaceId)
    .execute()
  return rows.map(({ network }) => network)
}
