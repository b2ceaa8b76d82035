import { sql, type Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'

export type RangeKind = 'whitelist' | 'canary' | 'shared' | 'sensor'
export type RangeRow = { id: string; kind: RangeKind; cidr: string; label: string; createdAt: Date }

const RANGE = ['id', 'kind', 'cidr', 'label', 'createdAt'] as const

export async function listCidrs(db: Db): Promise<{ kind: RangeKind; cidr: string }[]> {
  return (await db.selectFrom('abuseRange').select(['kind', 'cidr']).execute()) as {
    kind: RangeKind
    cidr: string
  }[]
}

/** Lists ranges by network. */
export async function listRanges(
  db: Db,
  kinds: RangeKind[],
  page: { limit: number; offset: number },
) {
  const rows = db
    .selectFrom('abuseRange')
    .select(RANGE)
    .where('kind', 'in', kinds)
    .orderBy('cidr')
    .orderBy('kind')
  return (await rows.limit(page.limit).offset(page.offset).execute()) as RangeRow[]
}

export async function countRanges(db: Db, kinds: RangeKind[]): Promise<number> {
  const { count } = await db
    .selectFrom('abuseRange')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('kind', 'in', kinds)
    .executeTakeFirstOrThrow()
  return count
}

/** Inserts a range; undefined when it exists. */
export async function insertRange(
  db: Db,
  range: { kind: RangeKind; cidr: string; label: string },
): Promise<RangeRow | undefined> {
  const insert = db.insertInto('abuseRange').values(range)
  const row = await insert
    .onConflict((conflict) => conflict.columns(['kind', 'cidr']).doNothing())
    .returning(RANGE)
    .executeTakeFirst()
  return row as RangeRow | undefined
}

export async function deleteRange(
  db: Db,
  id: string,
  kinds: RangeKind[],
): Promise<RangeRow | undefined> {
  const row = await db
    .deleteFrom('abuseRange')
    .where('id', '=', id)
    .where('kind', 'in', kinds)
    .returning(RANGE)
    .executeTakeFirst()
  return row as RangeRow | undefined
}

/** Applies a new range to the addresses in it. A range within a /64 applies to the whole /64. */
export async function markRange(db: Transaction<DB>, { kind, cidr }: RangeRow): Promise<void> {
  if (kind === 'sensor') return
  const change = kind === 'shared' ? { shared: true, dueAt: new Date() } : { state: 'whitelisted' }
  await db
    .updateTable('abuseAddress')
    .set((eb) => ({ ...change, revision: eb('revision', '+', 1) }))
    .where(isInRange(cidr))
    .execute()
}

/** Applies the end of a range: its addresses are assessed by their evidence again, immediately. */
export async function unmarkRange(db: Transaction<DB>, { kind, cidr }: RangeRow): Promise<void> {
  if (kind === 'sensor') return
  const change = kind === 'shared' ? { shared: false } : { state: 'watchlist' }
  await db
    .updateTable('abuseAddress')
    .set((eb) => ({ ...change, dueAt: new Date(), revision: eb('revision', '+', 1) }))
    .where(isInRange(cidr))
    .execute()
}

const isInRange = (cidr: string) => {
  const network = sql`${cidr}::cidr`
  return sql<boolean>`address <<= set_masklen(${network}, least(masklen(${network}), case family(${network}) when 4 then 32 else 64 end))::inet`
}
