import type { Kysely } from 'kysely'
import type { DB } from '../../../store/tables.ts'
import { countThisMonth, lockPlan } from '../../store.ts'
import { MAX_MIGRATIONS_PER_MONTH } from '../../submit.ts'
import { holdUntilNextMonth, markCounted, type DueMailbox } from './store.ts'

/**
 * Counts a synchronized mailbox towards the month, once. False when the plan allows no more: it then
 * waits for the next month.
 */
export async function countTowardsMonth(
  db: Kysely<DB>,
  { migrationId, workspaceId }: Pick<DueMailbox, 'migrationId' | 'workspaceId'>,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const limit = MAX_MIGRATIONS_PER_MONTH[await lockPlan(trx, workspaceId)]
    const { count } = await countThisMonth(trx, workspaceId)
    if (count < limit) {
      await markCounted(trx, migrationId)
      return true
    }
    const message = `The plan allows ${limit} migrations per month. The next pass is in the next month.`
    await holdUntilNextMonth(trx, migrationId, message)
    return false
  })
}
