import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { deleteRows, type Row } from '../../store/row.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'

const COLUMNS = [
  'id',
  'endpointId',
  'requestId',
  'token',
  'withBody',
  'createdAt',
  'expiresAt',
] as const

export type ShareRow = Row<'webhookShare', typeof COLUMNS>

/** Adds a link. @param days until it expires */
export async function insertShare(
  db: Db,
  values: Omit<ShareRow, 'id' | 'createdAt' | 'expiresAt'> & { workspaceId: string },
  days: number,
): Promise<ShareRow> {
  return db
    .insertInto('webhookShare')
    .values({ ...values, expiresAt: sql<Date>`now() + make_interval(days => ${days})` })
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/** The links of an endpoint that work, newest first. */
export async function listShares(db: Db, endpointId: string): Promise<ShareRow[]> {
  return db
    .selectFrom('webhookShare')
    .select(COLUMNS)
    .where('endpointId', '=', endpointId)
    .where('expiresAt', '>', sql<Date>`now()`)
    .orderBy('id', 'desc')
    .execute()
}

/** The share of a link that works. */
export async function findShareByToken(db: Db, token: string): Promise<ShareRow | undefined> {
  return db
    .selectFrom('webhookShare')
    .select(COLUMNS)
    .where('token', '=', token)
    .where('expiresAt', '>', sql<Date>`now()`)
    .where((eb) => eb.not(isInDeletedWorkspace('webhookShare.workspaceId')))
    .executeTakeFirst()
}

export async function deleteShare(db: Db, endpointId: string, id: string): Promise<boolean> {
  return deleteRows(db, 'webhookShare', { endpointId, id })
}
