import type { Transaction } from 'kysely'
import type { DB } from '../../store/tables.ts'
import type { CopyFailure } from '../engine/journal/journal.ts'
import type { MigrationProgress } from '../engine/progress/progress.ts'
import { findMainError, type AccountAddress, type MigrationRow } from '../migrations.sql.ts'
import { raiseBatchAlert } from './batch-alerts.ts'
import { findActive, saveResult, type MailboxResult } from './batch-progress.sql.ts'
import { addRejection, resetRejections } from './batch-hosts.sql.ts'

/** The code of an error after which a sign-in must not be repeated with the same password. */
const WRONG_PASSWORD = 'sign_in'

type Ended = Pick<MigrationRow, 'id' | 'workspaceId' | 'batchId' | 'source' | 'destination'>

/**
 * Records the end of a migration with its mailbox, in the transaction that ends it. Rejected
 * sign-ins are counted by host: after some in a row, its unverified mailboxes wait, because a host
 * may lock accounts or addresses out.
 * @param ended `failure`: the error that ended it before it started; `isLaterPass`: of a standing
 *   synchronization
 */
export async function recordMailboxResult(
  trx: Transaction<DB>,
  migration: Ended,
  state: 'completed' | 'failed',
  {
    progress,
    failure,
    isLaterPass,
  }: { progress: MigrationProgress; failure: CopyFailure | null; isLaterPass: boolean },
): Promise<void> {
  const { id, batchId, workspaceId, source, destination } = migration
  if (batchId === null) return
  const mailbox = await findActive(trx, id)
  if (!mailbox) return
  const error = failure ?? (state === 'failed' ? await findMainError(trx, id) : undefined)
  const problem = state === 'completed' ? null : problemOf(error, progress, migration)
  // Folders are counted after both sides have accepted the sign-in.
  const isSignedIn = state === 'completed' || progress.foldersTotal > 0
  const verified = mailbox.verified || isSignedIn
  const isLast = await saveResult(trx, id, { pass: mailbox.pass, progress, verified, problem })
  const hosts = [source.host, destination.host]
  if (isSignedIn && mailbox.hasRejections) await resetRejections(trx, batchId, hosts)
  if (!isSignedIn && problem?.code === WRONG_PASSWORD && problem.host && !mailbox.verified)
    await addRejection(trx, batchId, problem.host)
  if (isLast) await raiseBatchAlert(trx, workspaceId, batchId, { isLaterPass })
}

function problemOf(
  error: CopyFailure | undefined,
  progress: MigrationProgress,
  { source, destination }: Ended,
): NonNullable<MailboxResult['problem']> {
  if (error === undefined) {
    const { errorCount } = progress
    const message = `${errorCount.toLocaleString('en-US')} ${errorCount === 1 ? 'message or folder was' : 'messages or folders were'} not copied.`
    return { code: 'not_copied', host: null, message }
  }
  return {
    code: error.code,
    host: hostOf(error.message, source, destination),
    message: error.message,
  }
}

/** The host that an error is about: its sentence names it with its port, or alone. */
function hostOf(sentence: string, ...sides: AccountAddress[]): string | null {
  const named = sides.find(({ host, port }) => sentence.includes(`${host}:${port}`))
  return (named ?? sides.find(({ host }) => sentence.includes(host)))?.host.toLowerCase() ?? null
}
