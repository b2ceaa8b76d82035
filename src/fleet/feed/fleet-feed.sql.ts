import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'

/** A banned address; `expiresAt` in milliseconds since 1970. */
export type ListedAddress = {
  address: string
  expiresAt: number
  /** The number of the change that banned it. */
  change: number
  /** The service of the report that banned it; empty when a member did. */
  service: string
}

/** The difference between a state that a follower has and the present one. */
export type FleetDelta = {
  cursor: number
  /** `added` is the whole list. */
  complete: boolean
  added: ListedAddress[]
  removed: string[]
}

type Row = {
  cursor: number
  complete: boolean
  rows: [address: string, expiresAt: number | null, change: number, service: string][] | null
}

/**
 * Reads the changes since a cursor, each address in its present state, in one statement. Without a
 * cursor, or with one that is too old or unknown, it is the whole list.
 */
export async function readDelta(
  db: Db,
  workspaceId: string,
  since: number | null,
): Promise<FleetDelta> {
  const { rows } = await sql<Row>`
    with state as (
      select cursor, coalesce(${since}::bigint not between trimmed and cursor, true) as complete
      from fleet where workspace_id = ${workspaceId}
    )
    select state.cursor, state.complete, case when state.complete then (
      select json_agg(json_build_array(
        address, extract(epoch from expires_at) * 1000, change, coalesce(sightings -> -1 ->> 'service', '')
      ) order by address)
      from fleet_ban where workspace_id = ${workspaceId} and expires_at > now()
    ) else (
      select json_agg(json_build_array(
        address, extract(epoch from expires_at) * 1000, number, coalesce(cause ->> 'service', '')
      ))
      from (
        select distinct on (address) address, expires_at, number, cause from fleet_change
        where workspace_id = ${workspaceId} and number > ${since}::bigint order by address, number desc
      ) as latest
    ) end as rows
    from state`.execute(db)
  const [found] = rows
  if (!found) return { cursor: 0, complete: true, added: [], removed: [] }
  const { cursor, complete, rows: changes } = found
  const [added, removed]: [ListedAddress[], string[]] = [[], []]
  // Changes that end a ban have no end of their own.
  for (const [address, expiresAt, change, service] of changes ?? [])
    if (expiresAt === null) removed.push(address)
    else added.push({ address, expiresAt, change, service })
  return { cursor, complete, added, removed }
}

/** Which of these tokens may still follow. */
export async function listValidTokens(db: Db, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db
    .selectFrom('abuseToken')
    .select('id')
    .where('id', 'in', ids)
    .where((eb) => eb.not(isInDeletedWorkspace('abuseToken.workspaceId')))
    .execute()
  return new Set(rows.map(({ id }) => id))
}
