import type { Kysely } from 'kysely'
import { Fault, messageOf } from '../../../errors.ts'
import type { Enqueue, InWorkspace, Job } from '../../../jobs/job.ts'
import { WorkspaceDeleted } from '../../../jobs/workspace-guard.ts'
import type { Logger } from '../../../log.ts'
import { ifDecryptable } from '../../../store/encryption.ts'
import type { DB } from '../../../store/tables.ts'
import { ConsentNeeded } from '../../../mail-credentials/access-token.ts'
import { openAccount, type AccountDeps, type AccountSecret } from '../../mailbox-accounts.ts'
import { decryptPasswords } from '../../batches/passwords.ts'
import { notifyBatch } from '../../batches/batches.sql.ts'
import { notifyMigration } from '../../migrations.sql.ts'
import { decryptSecrets, type MigrationData } from '../../submit-migration.ts'
import { readSourceDigest } from './check-source.ts'
import { countTowardsMonth } from './count-month.ts'
import { SYNC_LIMITS } from '../limits.ts'
import { startPass } from './start-pass.ts'
import {
  claimDue,
  recordFailedCheck,
  recordUnchanged,
  releaseCheck,
  type DueMailbox,
} from './sync-checks.sql.ts'

export type CheckDeps = AccountDeps & {
  db: Kysely<DB>
  secretKey: string
  job: Job<MigrationData>
  batchScheduler: Job
}

/** Claims are only made for at least as many mailboxes, because each costs a query. */
const MIN_CLAIM = 4

/**
 * Checks the sources of all mailboxes that are due, several at once. Where nothing has changed, that
 * was the pass; otherwise the migration is queued for one.
 * @param until time of `performance.now()` after which no further mailboxes are claimed
 */
export async function checkDueMailboxes(
  deps: CheckDeps,
  {
    enqueue,
    inWorkspace,
    log,
    signal,
    until,
  }: {
    enqueue: Enqueue
    inWorkspace: InWorkspace
    log: Logger
    signal: AbortSignal
    until: number
  },
): Promise<void> {
  const running = new Map<string, Promise<void>>()
  const busyHosts = new Map<string, string>()
  const batches = new Map<string, string>()
  let isDry = false
  async function check(mailbox: DueMailbox): Promise<void> {
    try {
      await inWorkspace(mailbox.workspaceId, (own) => checkMailbox(mailbox, deps, enqueue, own))
      if (mailbox.batchId !== null) batches.set(mailbox.batchId, mailbox.workspaceId)
      else await notifyMigration(deps.db, mailbox.workspaceId, mailbox.migrationId)
    } catch (error) {
      const isDeleted = error instanceof WorkspaceDeleted
      if (!isDeleted)
        log.warn({ err: error, migrationId: mailbox.migrationId }, 'a mailbox could not be checked')
      // Otherwise it is claimed again after its lease.
      if (signal.aborted || isDeleted)
        await releaseCheck(deps.db, mailbox.migrationId).catch(() => undefined)
    }
  }
  while (!signal.aborted) {
    const free = SYNC_LIMITS.checksAtOnce - running.size
    if (!isDry && performance.now() < until && (free >= MIN_CLAIM || running.size === 0)) {
      const claimed = await claimDue(deps.db, free, [...busyHosts.values()])
      isDry = claimed.length === 0
      for (const mailbox of claimed) {
        const { migrationId } = mailbox
        busyHosts.set(migrationId, mailbox.sourceHost)
        const checking = check(mailbox).finally(() => {
          running.delete(migrationId)
          busyHosts.delete(migrationId)
          isDry = false
        })
        running.set(migrationId, checking)
      }
    } else if (running.size === 0) break
    if (running.size > 0) await Promise.race(running.values())
  }
  await Promise.all(running.values())
  for (const [id, workspaceId] of batches) await notifyBatch(deps.db, workspaceId, id)
}

async function checkMailbox(
  mailbox: DueMailbox,
  deps: CheckDeps,
  enqueue: Enqueue,
  signal: AbortSignal,
): Promise<void> {
  const startedAt = new Date()
  if (!mailbox.isCounted && !(await countTowardsMonth(deps.db, mailbox))) return
  const found = await readState(mailbox, deps, signal)
  signal.throwIfAborted()
  if (found.state === 'unchanged') await recordUnchanged(deps.db, mailbox, startedAt)
  else if (found.state === 'unreachable' && mailbox.failures + 1 !== SYNC_LIMITS.maxFailedChecks)
    await recordFailedCheck(deps.db, mailbox.migrationId, startedAt, found.error)
  else await startPass(mailbox, deps, enqueue)
}

type Found = { state: 'unchanged' | 'changed' } | { state: 'unreachable'; error: string }

async function readState(
  { source, folders, seen, ...mailbox }: DueMailbox,
  deps: CheckDeps,
  signal: AbortSignal,
): Promise<Found> {
  if (seen === null) return { state: 'changed' }
  const secret = readSecret(mailbox, deps.secretKey)
  // The pass reports that the password is missing.
  if (secret === null) return { state: 'changed' }
  const stop = AbortSignal.any([signal, AbortSignal.timeout(SYNC_LIMITS.checkMs)])
  try {
    const use = { workspaceId: mailbox.workspaceId, signal: stop, isWork: true }
    const account = await openAccount({ ...source, ...secret }, deps, use)
    const now = await readSourceDigest(account, folders, stop)
    return { state: now !== null && now === seen ? 'unchanged' : 'changed' }
  } catch (error) {
    // The pass reports a rejected password, or a credential that is gone.
    const isReported = error instanceof Fault && REPORTED_CODES.includes(error.code)
    if (isReported || error instanceof ConsentNeeded) return { state: 'changed' }
    return { state: 'unreachable', error: messageOf(error) }
  }
}

const REPORTED_CODES = ['upstream_rejected', 'not_found', 'conflict']

function readSecret(
  { sealed, mailboxId, migrationId }: Pick<DueMailbox, 'sealed' | 'mailboxId' | 'migrationId'>,
  secretKey: string,
): AccountSecret | null {
  if (sealed === null) return null
  return ifDecryptable(() =>
    mailboxId === null
      ? decryptSecrets(sealed, secretKey, migrationId).source
      : { password: decryptPasswords(sealed, secretKey, mailboxId).source },
  )
}
