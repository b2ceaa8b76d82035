import type { Kysely } from 'kysely'
import { scarcerOf } from '../../../accounts/own-data/account-quotas.ts'
import type { DB } from '../../../store/tables.ts'
import { countThisMonth, lockMonth } from '../../migrations.sql.ts'
import { monthsOf } from '../../submit-migration.ts'
import { holdUntilNextMonth, markCounted, type DueMailbox } from './sync-checks.sql.ts'

/**
 * Counts a synchronized mailbox towards the month, once. False when the plan allows no more: it then
 * waits for the next month.
 */
export async function countTowardsMonth(
  db: Kysely<DB>,
  { migrationId, workspaceId }: Pick<DueMailbox, 'migrationId' | 'workspaceId'>,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    await lockMonth(trx, workspaceId)
    const { used, limit } = scarcerOf(...monthsOf(await countThisMonth(trx, workspaceId)))
    if (used < limit) {
      await markCounted(trx, migrationId)
      return true
    }
    const message = `The plan allows ${limit} migrations per month. The next pass is in the next month.`
    await holdUntilNextMonth(trx, migrationId, message)
    return false
  })
}
