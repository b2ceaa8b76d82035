import type { Kysely } from 'kysely'
import { raiseAlert, raiseResolved } from '../../alerts/raise.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { FAILING_DAYS, STATISTICS_RETRY_SECONDS } from '../limits.ts'
import type { AccessProblem } from './access-problem.ts'
import { accessLostAlert, accessWorkingAlert } from './messages.ts'
import { recordEnd, recordFailure, recordFetch, type AccessTable } from './provider-access.sql.ts'

/** Records that statistics were fetched, and ends the alert that they are missing. */
export async function recordSuccess(
  db: Kysely<DB>,
  table: AccessTable,
  workspaceId: string,
  afterSeconds: number,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await recordFetch(trx, table, workspaceId, afterSeconds)
    await raiseResolved(trx, accessWorkingAlert(workspaceId, table))
    await notifyChange(trx, workspaceId, 'checks', workspaceId)
  })
}

/** Records why statistics could not be fetched, with an alert when they end or fail for long. */
export async function recordProblem(
  db: Kysely<DB>,
  table: AccessTable,
  workspaceId: string,
  { kind, message, retryAfterSeconds: retryAfter }: AccessProblem,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (kind === 'ended') {
      const ended = await recordEnd(trx, table, workspaceId, message)
      if (!ended) return
      const subject = { workspaceId, table, since: ended.failingSince }
      await raiseAlert(trx, accessLostAlert(subject, { problem: message, isEnded: true }))
    } else {
      const retry = STATISTICS_RETRY_SECONDS
      const failing = { problem: message, retry, retryAfter, longDays: FAILING_DAYS }
      const failure = await recordFailure(trx, table, workspaceId, failing)
      if (!failure) return
      const subject = { workspaceId, table, since: failure.failingSince }
      if (failure.isLong)
        await raiseAlert(trx, accessLostAlert(subject, { problem: message, isEnded: false }))
    }
    await notifyChange(trx, workspaceId, 'checks', workspaceId)
  })
}
