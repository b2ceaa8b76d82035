import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { countRows, findRow, type Row } from '../../store/row.ts'

export type AppealStatus = 'granted' | 'open' | 'upheld' | 'rejected'
const APPEAL = ['id', 'address', 'reason', 'own', 'status', 'createdAt', 'decidedAt'] as const

export type AppealRow = Row<'abuseAppeal', typeof APPEAL, { status: AppealStatus }>

export async function insertAppeal(
  db: Db,
  appeal: {
    address: string
    appellant: string
    reason: string
    own: boolean
    status: AppealStatus
  },
): Promise<AppealRow> {
  const decidedAt = appeal.status === 'open' ? null : new Date()
  const insert = db.insertInto('abuseAppeal').values({ ...appeal, decidedAt })
  return (await insert.returning(APPEAL).executeTakeFirstOrThrow()) as AppealRow
}

/** Whether an appeal from the listed address itself was granted at once. */
export async function wasGrantedSince(db: Db, address: string, since: Date): Promise<boolean> {
  const row = await db
    .selectFrom('abuseAppeal')
    .select('id')
    .where('address', '=', address)
    .where('own', '=', true)
    .where('status', '=', 'granted')
    .where('createdAt', '>=', since)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Whether an appellant’s appeal about an address waits, or, from elsewhere, was made since a
 * moment.
 */
export async function hasAppealOf(
  db: Db,
  { address, appellant, own }: { address: string; appellant: string; own: boolean },
  since: Date,
): Promise<boolean> {
  const row = await db
    .selectFrom('abuseAppeal')
    .select('id')
    .where('address', '=', address)
    .where('appellant', '=', appellant)
    .where('own', '=', own)
    .where((eb) => (own ? eb('status', '=', 'open') : eb('createdAt', '>=', since)))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Closes all open appeals about an address. */
export async function closeAppeals(
  db: Db,
  address: string,
  status: 'granted' | 'upheld',
): Promise<void> {
  await db
    .updateTable('abuseAppeal')
    .set({ status, decidedAt: new Date() })
    .where('address', '=', address)
    .where('status', '=', 'open')
    .execute()
}

/** Lists open appeals first, of these the ones from the address itself, then the newest. */
export async function listAppeals(
  db: Db,
  page: { limit: number; offset: number },
): Promise<AppealRow[]> {
  const rows = await db
    .selectFrom('abuseAppeal')
    .select(APPEAL)
    .orderBy(sql`status = 'open'`, 'desc')
    // Appeals from the address itself come first, so that others cannot hide them.
    .orderBy(sql`status = 'open' and own`, 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute()
  return rows as AppealRow[]
}

export async function countAppeals(db: Db): Promise<number> {
  return countRows(db, 'abuseAppeal', {})
}

export async function countOpenAppeals(db: Db): Promise<number> {
  return countRows(db, 'abuseAppeal', { status: 'open' })
}

/** Decides an appeal; undefined when it is not open. */
export async function decideAppeal(
  db: Db,
  id: string,
  status: 'upheld' | 'rejected',
): Promise<AppealRow | undefined> {
  const row = await db
    .updateTable('abuseAppeal')
    .set({ status, decidedAt: new Date() })
    .where('id', '=', id)
    .where('status', '=', 'open')
    .returning(APPEAL)
    .executeTakeFirst()
  return row as AppealRow | undefined
}

export async function hasAppeal(db: Db, id: string): Promise<boolean> {
  return (await findRow(db, 'abuseAppeal', ['id'], { id })) !== undefined
}
