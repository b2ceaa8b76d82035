import { sql } from 'kysely'
import type { Db } from '../../../store/database.ts'

/** A banned address; `expiresAt` in milliseconds since 1970. */
export type ListedAddress = { address: string; expiresAt: number }

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
  rows: [address: string, isBanned: boolean, expiresAt: number | null][] | null
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
      select json_agg(json_build_array(address, true, extract(epoch from expires_at) * 1000) order by address)
      from fleet_ban where workspace_id = ${workspaceId} and expires_at > now()
    ) else (
      select json_agg(json_build_array(address, kind in ('banned', 'extended'), extract(epoch from expires_at) * 1000))
      from (
        select distinct on (address) address, kind, expires_at from fleet_change
        where workspace_id = ${workspaceId} and number > ${since}::bigint order by address, number desc
      ) as latest
    ) end as rows
    from state`.execute(db)
  const [found] = rows
  if (!found) return { cursor: 0, complete: true, added: [], removed: [] }
  const { cursor, complete, rows: changes } = found
  return {
    cursor,
    complete,
    added: (changes ?? []).flatMap(([address, isBanned, expiresAt]) =>
      isBanned && expiresAt !== null ? { address, expiresAt } : [],
    ),
    removed: (changes ?? []).flatMap(([address, isBanned]) => (isBanned ? [] : address)),
  }
}

/** A report token, and the workspace whose list it follows. */
export type FollowerToken = { id: string; label: string; workspaceId: string }

export async function findFollowerToken(db: Db, hash: Buffer): Promise<FollowerToken | undefined> {
  return db
    .selectFrom('abuseToken')
    .innerJoin('workspace', 'workspace.id', 'abuseToken.workspaceId')
    .select(['abuseToken.id', 'abuseToken.label', 'abuseToken.workspaceId'])
    .where('abuseToken.hash', '=', hash)
    .where('workspace.deleteAfter', 'is', null)
    .executeTakeFirst()
}

/** Which of these tokens may still follow. */
export async function listValidTokens(db: Db, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db
    .selectFrom('abuseToken')
    .innerJoin('workspace', 'workspace.id', 'abuseToken.workspaceId')
    .select('abuseToken.id')
    .where('abuseToken.id', 'in', ids)
    .where('workspace.deleteAfter', 'is', null)
    .execute()
  return new Set(rows.map(({ id }) => id))
}
