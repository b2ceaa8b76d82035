import type { Db } from '../../store/database.ts'
import type { ListModes, ListMode } from './modes.ts'

/** Lists the modes that these accounts set, by account. */
export async function listAccountModes(db: Db, accountIds: string[]): Promise<Map<string, ListModes>> {
  const rows = await db.selectFrom('monitoredList').selectAll().where('accountId', 'in', accountIds).execute()
  const grouped = Map.groupBy(rows, ({ accountId }) => accountId)
  return new Map(
    Array.from(grouped, ([id, all]) => [id, Object.fromEntries(all.map(({ zone, mode }) => [zone, mode as ListMode]))]),
  )
}

/** Sets the mode of a blocklist for an account; null restores the default. */
export async function setAccountMode(db: Db, accountId: string, zone: string, mode: ListMode | null): Promise<void> {
  if (mode === null) {
    await db.deleteFrom('monitoredList').where('accountId', '=', accountId).where('zone', '=', zone).execute()
    return
  }
  await db
    .insertInto('monitoredList')
    .values({ accountId, zone, mode })
    .onConflict((conflict) => conflict.columns(['accountId', 'zone']).doUpdateSet({ mode }))
    .execute()
}
