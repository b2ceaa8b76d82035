import type { Kysely, Transaction } from 'kysely'
import { Type } from 'typebox'
import { raiseAlert, raiseResolved } from '../alerts/raise.ts'
import { Fault, messageOf } from '../errors.ts'
import { defineJob, PutBack, type Enqueue, type Job } from '../jobs/job.ts'
import { claimableJobs } from '../jobs/shares.ts'
import type { Logger } from '../log.ts'
import { findResponsible } from '../store/responsible.ts'
import type { DB } from '../store/tables.ts'
import type { CopyFailure } from './engine/journal/journal.ts'
import type { MigrationAccount } from './engine/connections/fresh-sign-in.ts'
import { SLOT_LIMITS, type SlotLimits } from './limits.ts'
import { migrateMailbox } from './engine/migrate.ts'
import type { SyncOutcome } from './engine/sync/pass.ts'
import type { MigrationProgress } from './engine/progress/progress.ts'
import { createThroughputRecorder, type Throughput } from './run/throughput.ts'
import { createRowJournal, LostClaim } from './run/row-journal.ts'
import { openAccount, type AccountDeps } from './mailbox-accounts.ts'
import {
  claimMigration,
  type ClaimedMigration as Claimed,
  forgetStalls,
  markAlive,
  markEnded,
  markReleased,
  markStalled,
  markWaiting,
  type Run,
} from './run/migration-runs.sql.ts'
import { Stalled, watchForStall } from './run/stall-watch.ts'
import { KEEP_DAYS } from '../mail-credentials/limits.ts'
import { addErrors, credentialsOf } from './migrations.sql.ts'
import { recordPass } from './sync/syncs.sql.ts'
import { releaseCredentials } from './consent/migration-consents.sql.ts'
import {
  mustWaitForConsent,
  stoppingWithoutConsent,
  waitForConsent,
} from './consent/wait-for-consent.ts'
import { recordMailboxResult } from './batches/record-result.ts'
import { findFollowUp } from './batches/schedule/batch-schedule.sql.ts'
import { lockBatch } from './batches/batches.sql.ts'
import { wakeCutover } from './cutover/wake.ts'
import { decryptSecrets, type MigrationData } from './submit-migration.ts'
import { completionAlert, confirmedAlert, failureAlert, heldAlert } from './messages.ts'
import { DAY_SECONDS, MINUTE_MS } from '../time.ts'

export type MigrationJobDeps = AccountDeps & {
  db: Kysely<DB>
  secretKey: string
  concurrency: number
  slots?: SlotLimits
  /** The job that starts further mailboxes of a batch when one has ended. */
  batchScheduler?: () => Job
  /** The job that checks the cut-over of a batch when a mailbox has ended. */
  cutoverJob?: () => Job
}

/** Milliseconds between two heartbeats. They carry the progress. */
const HEARTBEAT_MS = 1_000

const NAME = 'migration.run'

/** Runs without a result after which a migration is not retried by itself. */
const MAX_RUNS = 100

/**
 * Runs migrations: at most `concurrency` in the whole installation, shared equally between the
 * accounts that wait. When a worker dies, another one resumes its migration.
 */
export function migrationJob(deps: MigrationJobDeps): Job<MigrationData> {
  return defineJob({
    name: NAME,
    schema: Type.Object({ migrationId: Type.String(), workspaceId: Type.Optional(Type.String()) }),
    concurrency: deps.concurrency,
    // Jobs of an earlier version have no account: they share the slots of one.
    accountOf: ({ workspaceId }, db) =>
      workspaceId === undefined ? 'all' : findResponsible(db, workspaceId),
    workspaceOf: ({ workspaceId }) => workspaceId,
    deadline: DAY_SECONDS,
    retry: { limit: MAX_RUNS, delay: 2, maxDelay: 30 },
    async run({ migrationId }, { signal, log, enqueue }) {
      const claimed = await claimMigration(deps.db, migrationId)
      if (claimed === 'busy') throw new Error('another worker is still running this migration')
      if (!claimed) return
      await runClaimed(claimed, deps, signal, log.child({ migrationId }))
      if (claimed.batchId !== null)
        await continueBatch(deps, { ...claimed, batchId: claimed.batchId }, enqueue)
    },
  })
}

/**
 * Starts further mailboxes when a mailbox has ended, and has the cut-over of its batch checked. The
 * scheduler fills the places of several mailboxes in one pass, which costs as much as one for each:
 * it runs when few are left.
 */
async function continueBatch(
  { db, concurrency, batchScheduler, cutoverJob }: MigrationJobDeps,
  { workspaceId, batchId }: { workspaceId: string; batchId: string },
  enqueue: Enqueue,
): Promise<void> {
  const enough = Math.ceil(concurrency / 2)
  const waiting = claimableJobs(NAME, await findResponsible(db, workspaceId))
  const { canStart, hasCutover } = await findFollowUp(db, { batchId, waiting, enough })
  if (batchScheduler && canStart) await enqueue(db, batchScheduler(), {})
  if (cutoverJob && hasCutover) await wakeCutover(db, batchId, { enqueue, job: cutoverJob() })
}

async function runClaimed(
  row: Claimed,
  deps: MigrationJobDeps,
  signal: AbortSignal,
  log: Logger,
): Promise<void> {
  const { db, slots = SLOT_LIMITS } = deps
  const lost = new AbortController()
  const life = showLife(db, row, log, () => lost.abort(new LostClaim()))
  const still = watchForStall(row.options.dryRun ? slots.dryRunMs : slots.standstillMs)
  let hasEnded = false
  try {
    const stop = AbortSignal.any([signal, lost.signal, still.signal])
    const sides = await openSides(row, deps, stop).catch((error: unknown) =>
      endUnopened(error, row, db, stop),
    )
    if (!sides) return
    await migrateMailbox({
      ...sides,
      folders: row.folders.length === 0 ? 'all' : row.folders,
      options: {
        ...row.options,
        prefix: row.destPrefix,
        withNewMail: row.batchId !== null,
        sync: row.sync ? { deletions: row.sync.deletions } : undefined,
      },
      journal: createRowJournal(db, row),
      notes: row.progress.notes,
      signal: stop,
      log,
      onConnectionLost: () => life.connectionLost(),
      onProgress(news) {
        life.report(news)
        // A dry run completes no messages. It has a time limit for the whole run instead.
        if (!row.options.dryRun && still.report(news) && row.stalls > 0) life.forgetStalls()
      },
      async onOutcome({ state, progress, sync, stopped }) {
        await life.stop()
        const written = { progress, throughput: life.throughput() }
        if (stopped && mustWaitForConsent(row, stopped))
          return await waitForConsent(db, row, stopped, written)
        await db
          .transaction()
          .execute((trx) => end(trx, row, state, { ...written, failure: null, sync, stopped }))
        hasEnded = true
        log.info(
          { state, messages: progress.messagesDone, errors: progress.errorCount },
          'a migration ended',
        )
      },
    })
  } catch (error) {
    await life.stop()
    if (error instanceof Stalled)
      return await endStandstill({ ...row, stalls: life.stalls() }, life.last(), db, slots)
    if (error instanceof PutBack) await markWaiting(db, row)
    // Otherwise it was cancelled, or another worker has claimed it: nothing is left to do here.
    if (!(error instanceof LostClaim)) throw error
  } finally {
    still.end()
    await life.stop()
    if (!hasEnded)
      await markReleased(db, row).catch((error: unknown) => log.debug(messageOf(error)))
  }
}

/**
 * Moves a stalled migration to the end of the queue, or fails it after several stalls in a row.
 * @throws PutBack when it will be retried
 */
async function endStandstill(
  row: Claimed,
  last: MigrationProgress | null,
  db: Kysely<DB>,
  slots: SlotLimits,
): Promise<void> {
  const progress = last ?? begunWith(row)
  const isDry = row.options.dryRun
  const minutes = Math.ceil((isDry ? slots.dryRunMs : slots.standstillMs) / MINUTE_MS)
  if (isDry || row.stalls + 1 >= slots.maxStandstills) {
    const message = isDry
      ? `The dry run did not end within ${minutes} minutes. Select fewer folders, or try again when the servers respond faster.`
      : `No messages were copied for ${minutes} minutes, ${row.stalls + 1} times in a row. Check that both servers respond, then retry. Copied messages stay.`
    return await endFailed(row, { ...failureOf('no_progress', message) }, progress, db)
  }
  const message = `No messages were copied for ${minutes} minutes. The migration was queued again to let others run.`
  await markStalled(db, row, { ...progress, notes: [...progress.notes, { folder: '', message }] })
  throw new PutBack('no progress', slots.pauseMs * 2 ** row.stalls)
}

/** Resolves both hosts again at every start, because their addresses may have changed. */
async function openSides(
  row: Claimed,
  deps: MigrationJobDeps,
  signal: AbortSignal,
): Promise<{ source: MigrationAccount; destination: MigrationAccount }> {
  if (row.sealed === null)
    throw new Fault('internal', 'The passwords of this migration have been deleted.')
  const secrets = decryptSecrets(row.sealed, deps.secretKey, row.id)
  const use = { workspaceId: row.workspaceId, signal, isWork: true }
  const source = await openAccount({ ...row.source, ...secrets.source }, deps, use)
  const destination = await openAccount({ ...row.destination, ...secrets.destination }, deps, use)
  return {
    source: stoppingWithoutConsent(source),
    destination: stoppingWithoutConsent(destination),
  }
}

/** Fails a migration whose hosts could not be resolved. */
async function endUnopened(
  error: unknown,
  row: Claimed,
  db: Kysely<DB>,
  stop: AbortSignal,
): Promise<null> {
  // An aborted lookup says nothing about the hosts.
  if (stop.aborted) throw stop.reason
  if (!(error instanceof Fault)) throw error
  await endFailed(row, failureOf(error.code, error.message), begunWith(row), db)
  return null
}

/** The progress of earlier runs. A retry counts errors from zero. */
function begunWith({ progress, errorCount }: Claimed): MigrationProgress {
  return { ...progress, errorCount }
}

function failureOf(code: string, message: string): CopyFailure {
  return { folder: '', uid: null, messageId: null, size: null, code, message, attempts: 1 }
}

async function endFailed(
  row: Claimed,
  failure: CopyFailure,
  progress: MigrationProgress,
  db: Kysely<DB>,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const stored = await addErrors(trx, row.id, [failure])
    const counted = { ...progress, errorCount: Math.max(progress.errorCount + 1, stored) }
    const nothing = { throughput: null, sync: null, stopped: failure }
    await end(trx, row, 'failed', { progress: counted, failure, ...nothing })
  })
}

/** Ends a migration and alerts its owner to a failure, in one transaction. */
async function end(
  trx: Transaction<DB>,
  row: Claimed,
  state: 'completed' | 'failed',
  ended: Ended,
): Promise<void> {
  const { failure, progress } = ended
  // In the order of other changes of a batch: first the batch, then its migrations.
  if (row.batchId !== null) await lockBatch(trx, row.workspaceId, row.batchId)
  const marked = await markEnded(trx, row, state, ended)
  if (!marked) return
  // A synchronization of a batch begins only while its batch is locked.
  const mayBePass = row.batchId === null || marked.isSynchronized
  const pass = mayBePass ? await recordSyncPass(trx, row, state, ended) : null
  if (pass && ended.sync) await alertHeld(trx, row, ended.sync)
  // The next pass needs them.
  if (!pass)
    await releaseCredentials(trx, row.workspaceId, credentialsOf(row), keepDaysAfter(row, state))
  // A batch raises one alert for all of its mailboxes.
  if (row.batchId !== null)
    return await recordMailboxResult(trx, row, state, {
      progress,
      failure,
      isLaterPass: pass?.isLater ?? false,
    })
  // Passes that fail for the same reason raise one alert.
  if (pass?.isSameError) return
  if (state === 'failed') await raiseAlert(trx, failureAlert(row, progress, failure))
  else await raiseResolved(trx, completionAlert(row))
}

/** Alerts once to deletions that wait for a confirmation, also of a mailbox of a batch. */
async function alertHeld(
  trx: Transaction<DB>,
  row: Claimed,
  { held, isNewlyHeld }: SyncOutcome,
): Promise<void> {
  if (isNewlyHeld) await raiseAlert(trx, heldAlert(row, held))
  else if (held.length === 0) await raiseResolved(trx, confirmedAlert(row))
}

/** A dry run is followed by the migration, and a failed migration by a retry. */
function keepDaysAfter({ options }: Claimed, state: 'completed' | 'failed'): number {
  if (options.dryRun) return KEEP_DAYS.unused
  return state === 'completed' ? 0 : KEEP_DAYS.failed
}

type Ended = {
  progress: MigrationProgress
  throughput: Throughput | null
  /** The error that ended it before it started. */
  failure: CopyFailure | null
  sync: SyncOutcome | null
  stopped: { code: string; message: string } | null
}

/** Sign-ins are not repeated with a rejected password. */
const HOLDING_CODES = ['sign_in', 'upstream_rejected']

/** Records a pass of a synchronization. */
async function recordSyncPass(
  trx: Transaction<DB>,
  row: Claimed,
  state: 'completed' | 'failed',
  { progress, sync, stopped }: Ended,
): ReturnType<typeof recordPass> {
  const { errorCount } = progress
  const left = `${errorCount.toLocaleString('en-US')} ${errorCount === 1 ? 'message or folder was' : 'messages or folders were'} not copied.`
  return recordPass(trx, row.id, {
    startedAt: row.startedAt ?? new Date(),
    changes: sync?.changes ?? null,
    error: state === 'completed' ? null : (stopped?.message ?? left),
    seen: sync?.seen ?? null,
    isHeld: stopped !== null && HOLDING_CODES.includes(stopped.code),
  })
}

type Life = {
  report(progress: MigrationProgress): void
  connectionLost(): void
  /** The series of the migration. */
  throughput(): Throughput
  /** The latest reported progress. */
  last(): MigrationProgress | null
  /** Consecutive stalls before this run; 0 once this run has completed something. */
  stalls(): number
  forgetStalls(): void
  stop(): Promise<void>
}

/**
 * Writes heartbeats with the latest progress, and detects that the migration was cancelled or
 * claimed by another worker.
 */
function showLife(
  db: Kysely<DB>,
  run: Run & Pick<Claimed, 'stalls' | 'throughput'>,
  log: Logger,
  onLost: () => void,
): Life {
  let news: MigrationProgress | null = null
  let last: MigrationProgress | null = null
  let { stalls } = run
  const throughput = createThroughputRecorder(run.throughput)
  let writing: Promise<void> = Promise.resolve()

  async function write(): Promise<void> {
    const progress = news
    news = null
    const written = progress && { progress, throughput: throughput.changed() }
    try {
      if (!(await markAlive(db, run, written))) onLost()
    } catch (error) {
      news ??= progress
      log.debug({ err: error }, 'could not store the progress')
    }
  }

  const timer = setInterval(() => {
    writing = writing.then(write)
  }, HEARTBEAT_MS)
  return {
    report(progress) {
      throughput.record(progress)
      last = news = progress
    },
    connectionLost: () => throughput.connectionLost(),
    throughput: () => throughput.series(),
    last: () => last,
    stalls: () => stalls,
    forgetStalls() {
      if (stalls > 0) writing = writing.then(() => forgetStalls(db, run)).catch(() => {})
      stalls = 0
    },
    async stop() {
      clearInterval(timer)
      await writing
    },
  }
}
