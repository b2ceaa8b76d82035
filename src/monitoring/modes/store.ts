import type { Db } from '../../store/database.ts'
import type { Choices, Mode } from './modes.ts'

/** What these accounts chose for lists, by account. */
export async function listChoices(db: Db, accountIds: string[]): Promise<Map<string, Choices>> {
  const rows = await db.selectFrom('monitoredList').selectAll().where('accountId', 'in', accountIds).execute()
  const grouped = Map.groupBy(rows, ({ accountId }) => accountId)
  return new Map(
    Array.from(grouped, ([id, all]) => [id, Object.fromEntries(all.map(({ zone, mode }) => [zone, mode as Mode]))]),
  )
}

/** Null takes the choice back. */
export async function setChoice(db: Db, accountId: string, zone: string, mode: Mode | null): Promise<void> {
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
