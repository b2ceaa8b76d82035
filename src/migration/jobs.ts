import type { Kysely, Transaction } from 'kysely'
import { Type } from 'typebox'
import { raiseAlert } from '../alerts/raise.ts'
import { Fault, messageOf } from '../errors.ts'
import { defineJob, type Job } from '../jobs/job.ts'
import type { Logger } from '../log.ts'
import type { DB } from '../store/tables.ts'
import type { Failure } from './journal.ts'
import type { Side } from './lane.ts'
import { migrateMailbox } from './migrate.ts'
import type { Progress } from './progress.ts'
import { createRowJournal, LostClaim } from './run/row-journal.ts'
import { accountOf, type NetDeps } from './sides.ts'
import { claimMigration, markAlive, markEnded, markLetGo, type Run } from './run/store.ts'
import { addErrors, type MigrationRow } from './store.ts'
import { unsealSecrets, type MigrationData } from './submit.ts'
import { failureAlert } from './tell.ts'

export type MigrationJobDeps = NetDeps & { db: Kysely<DB>; secretKey: string; concurrency: number }

/** Milliseconds between two signs of life, which carry the progress. */
const SIGN_OF_LIFE = 1_000

/** After so many runs that ended without an end, something is wrong that another will not mend. */
const MOST_RUNS = 100

/** Runs migrations, at most `concurrency` in the whole installation; one whose worker dies goes on in another. */
export function migrationJob(deps: MigrationJobDeps): Job<MigrationData> {
  return defineJob({
    name: 'migration.run',
    schema: Type.Object({ migrationId: Type.String() }),
    concurrency: deps.concurrency,
    deadline: 86_400,
    retry: { limit: MOST_RUNS, delay: 2, maxDelay: 30 },
    async run({ migrationId }, { signal, log }) {
      const claimed = await claimMigration(deps.db, migrationId)
      if (claimed === 'busy') throw new Error('its last worker still has the migration')
      if (claimed) await runClaimed(claimed, deps, signal, log.child({ migrationId }))
    },
  })
}

type Claimed = MigrationRow & { sealed: string | null }

async function runClaimed(row: Claimed, deps: MigrationJobDeps, signal: AbortSignal, log: Logger): Promise<void> {
  const { db } = deps
  const lost = new AbortController()
  const life = showLife(db, row, log, () => lost.abort(new LostClaim()))
  try {
    const stop = AbortSignal.any([signal, lost.signal])
    const sides = await openSides(row, deps, stop).catch((error: unknown) => endUnopened(error, row, db))
    if (!sides) return
    const { state, progress } = await migrateMailbox({
      ...sides,
      folders: row.folders,
      options: { ...row.options, prefix: row.destPrefix },
      journal: createRowJournal(db, row),
      notes: row.progress.notes,
      signal: stop,
      log,
      onProgress: (news) => life.report(news),
    })
    await life.stop()
    await db.transaction().execute((trx) => end(trx, row, state, progress, null))
    log.info({ state, messages: progress.messagesDone, errors: progress.errorCount }, 'a migration ended')
  } catch (error) {
    // Cancelled, or in the hands of another worker: nothing is left to do here.
    if (!(error instanceof LostClaim)) throw error
  } finally {
    await life.stop()
    await markLetGo(db, row).catch((error: unknown) => log.debug(messageOf(error)))
  }
}

/** Host names are looked up and checked again at every start: what they point to may have changed since. */
async function openSides(
  row: Claimed,
  deps: MigrationJobDeps,
  signal: AbortSignal,
): Promise<{ source: Side; destination: Side }> {
  if (row.sealed === null) throw new Fault('internal', 'The passwords of this migration are gone.')
  const secrets = unsealSecrets(row.sealed, deps.secretKey, row.id)
  const source = await accountOf({ ...row.source, ...secrets.source }, deps, signal)
  const destination = await accountOf({ ...row.destination, ...secrets.destination }, deps, signal)
  return { source: { account: source }, destination: { account: destination } }
}

/** A migration that could not even begin has failed, and says why. */
async function endUnopened(error: unknown, row: Claimed, db: Kysely<DB>): Promise<null> {
  if (!(error instanceof Fault)) throw error
  const failure: Failure = {
    folder: '',
    uid: null,
    messageId: null,
    size: null,
    code: error.code,
    message: error.message,
    attempts: 1,
  }
  await db.transaction().execute(async (trx) => {
    await addErrors(trx, row.id, [failure])
    await end(trx, row, 'failed', { ...row.progress, errorCount: row.errorCount + 1 }, failure)
  })
  return null
}

/** Ends it, and tells its owner when it failed: both or neither. */
async function end(
  trx: Transaction<DB>,
  row: Claimed,
  state: 'completed' | 'failed',
  progress: Progress,
  failure: Failure | null,
): Promise<void> {
  const hasEnded = await markEnded(trx, row, state, progress)
  if (hasEnded && state === 'failed') await raiseAlert(trx, failureAlert(row, progress, failure))
}

type Life = { report(progress: Progress): void; stop(): Promise<void> }

/** Shows that the worker lives, with the newest progress, and hears that the migration is not its any more. */
function showLife(db: Kysely<DB>, run: Run, log: Logger, onLost: () => void): Life {
  let news: Progress | null = null
  let writing: Promise<void> = Promise.resolve()

  async function write(): Promise<void> {
    const progress = news
    news = null
    try {
      if (!(await markAlive(db, run, progress))) onLost()
    } catch (error) {
      news ??= progress
      log.debug({ err: error }, 'the progress could not be written')
    }
  }

  const timer = setInterval(() => {
    writing = writing.then(write)
  }, SIGN_OF_LIFE)
  return {
    report: (progress) => (news = progress),
    async stop() {
      clearInterval(timer)
      await writing
    },
  }
}
