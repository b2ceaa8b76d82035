import type { MigrateDeps, MigrateOptions } from './migration-options.ts'
import type { FolderCopy, MigrationContext, MigrationNote } from './context.ts'
import { Fault, messageOf } from '../../errors.ts'
import { limitHeapGrowth } from '../../heap-growth.ts'
import { createAppendWindow, type AppendWindow } from '../../net/imap/append/append-window.ts'
import { ImapLost, ImapRefused } from '../../net/imap/connection/refusals.ts'
import { isAllMail } from './folder/all-mail.ts'
import { createProgressReporter, type ProgressReporter } from './progress/progress-reporter.ts'
import { createPacer, UNLIMITED } from './connections/pacer.ts'
import { createConnectionPool, type ConnectionPool } from './connections/connection-pool.ts'
import { createFolderCopy } from './folder/folder-copy.ts'
import { createRateLimitGate } from './connections/rate-limit-gate.ts'
import type { ConnectionPair } from './connections/connection-pair.ts'
import { whileRunning } from './running-migrations.ts'
import { ENGINE_LIMITS, WAIT_TIMES } from '../limits.ts'
import type { CopyFailure } from './journal/journal.ts'
import type { FolderRoute } from './plan/mapping.ts'
import type { MigrationOutcome } from './outcome.ts'
import { withRetries } from './connections/with-retries.ts'
import { planMigration, type MigrationPlan } from './plan/plan.ts'
import type { MigrationProgress } from './progress/progress.ts'
import { settledAll } from './settled-all.ts'
import { codeOf, Stop } from './stop.ts'
import { finishSync } from './sync/finish-sync.ts'
import type { SyncOutcome, SyncPlan } from './sync/pass.ts'
import { planSync } from './sync/sync-plan.ts'
import { createUnchangedFolder } from './sync/unchanged-folder.ts'

/** Memory for message bodies, shared by all migrations of this process. */
const bodies: AppendWindow = createAppendWindow({
  commands: Infinity,
  bytes: ENGINE_LIMITS.bodiesBytes,
})

/**
 * Copies folders of one account to another and verifies the copy. Everything that the journal
 * records as done is skipped, so it resumes after any interruption with the same journal and
 * options. Messages that were not copied are in the journal’s failures.
 * @throws the signal’s reason when it aborts, and errors of the journal
 */
export async function migrateMailbox(deps: MigrateDeps): Promise<MigrationOutcome> {
  limitHeapGrowth()
  return whileRunning(() => migrate(deps))
}

async function migrate(deps: MigrateDeps): Promise<MigrationOutcome> {
  const { waitTimes = WAIT_TIMES } = deps
  const own = new AbortController()
  const signal = AbortSignal.any([deps.signal, own.signal])
  const notes: MigrationNote[] = [...(deps.notes ?? [])]
  const gate = createRateLimitGate(waitTimes, () => reporter.scheduleReport())
  const reporter = createProgressReporter({
    foldersAsked: deps.folders === 'all' ? 0 : deps.folders.length,
    onProgress: deps.onProgress ?? (() => undefined),
    closedUntil: () => gate.closedUntil,
    notes,
  })
  const shared = { ...deps, gate, waitTimes, signal }
  const pool = createConnectionPool(shared, own)
  const leave = afterAbort(signal, () => pool.destroy())
  try {
    const outcome = await copyMailbox(deps, { shared, pool, reporter, notes })
    // Signing out takes a round trip.
    await settledAll([pool.close(), deps.onOutcome?.(outcome)])
    return outcome
  } finally {
    leave()
    reporter.end()
    await pool.close()
  }
}

/** The parts of a migration that its copying uses. */
type Running = {
  shared: Omit<MigrateDeps, 'waitTimes'> & Pick<MigrationContext, 'gate' | 'waitTimes'>
  pool: ConnectionPool
  reporter: ProgressReporter
  notes: MigrationNote[]
}

async function copyMailbox(
  deps: MigrateDeps,
  { shared, pool, reporter, notes }: Running,
): Promise<MigrationOutcome> {
  const { journal, options = {} } = deps
  let plan: MigrationPlan | null = null
  let sync: SyncPlan | null = null
  try {
    plan = await withRetries(shared, (failures) => planMigration(pool.first, deps, failures))
    if (options.sync) sync = await withRetries(shared, () => planSyncOf(pool.first, deps, plan))
    const migration: MigrationContext = {
      ...shared,
      bodies,
      literals: { shapes: new Set<string>(), mustSynchronize: false },
      deduplicate: options.deduplicate ?? false,
      withNewMail: options.withNewMail === true || options.sync !== undefined,
      recordsDigests: deps.recordsDigests ?? true,
      sync,
      filter: options.filter ?? {},
      subscribe: options.subscribe ?? 'subscribed',
      pacer: createPacer(options.rate ?? UNLIMITED),
      onCopied: deps.onCopied ?? (() => undefined),
      destination: plan.destination,
      changed() {
        reporter.scheduleReport()
        pool.reassign()
      },
      grown: () => pool.extend(),
      note: (note) => addNote(notes, note),
      before: [],
    }
    for (const folder of plan.parents) migration.note({ folder, message: HOLDS_NO_MESSAGES })
    const groups = foldersOf(plan, migration, options)
    reporter.setFolders(groups.flat(), plan.warnings)
    if (options.dryRun) await countUncounted(groups.flat(), pool.first)
    else
      for (const copies of groups)
        await pool.copy(copies, options.connections ?? ENGINE_LIMITS.maxConnections)
    const ended = sync && (await finishSync(pool.first, sync, groups.flat(), migration, options))
    const unaccounted = options.dryRun ? [] : findUnaccounted(groups.flat())
    for (const { folder } of unaccounted) await journal.report(unaccountedFailure(folder.path))
    if (plan.isPartial) await journal.report(PARTIAL_LIST)
    const failures = unaccounted.length + Number(plan.isPartial)
    return outcomeOf(plan, reporter.finish(failures), notes, ended, null)
  } catch (error) {
    deps.signal.throwIfAborted()
    if (!isOfServers(error)) throw error
    const stopped = { code: codeOf(error), message: messageOf(error) }
    await journal.report({
      folder: '',
      uid: null,
      messageId: null,
      size: null,
      attempts: 1,
      ...stopped,
    })
    const ended = sync && { changes: sync.changes, seen: null, held: [], isNewlyHeld: false }
    return outcomeOf(plan, reporter.finish(1), notes, ended, stopped)
  }
}

/** Folders that nobody has named cannot be accounted for. */
export const PARTIAL_LIST: CopyFailure = {
  folder: '',
  uid: null,
  messageId: null,
  size: null,
  code: 'not_listed',
  message:
    'The source refuses to list its folders. Those that were found are copied. Name the others to copy them, too.',
  attempts: 1,
}

const HOLDS_NO_MESSAGES = 'It was not copied: it holds no messages. The folders below it were.'

/**
 * Counts folders that were not listed or counted: they may not exist, and a dry run must report
 * that as copying would.
 */
async function countUncounted(copies: readonly FolderCopy[], pair: ConnectionPair): Promise<void> {
  for (const copy of copies) if (copy.folder.messages === null) await copy.count(pair)
}

/**
 * Groups of folders that can be copied in parallel. “All Mail” comes last, where requested, so that
 * it only adds messages of no other folder.
 */
function foldersOf(
  { routes }: MigrationPlan,
  migration: MigrationContext,
  { allMailOnce }: MigrateOptions,
): FolderCopy[][] {
  const isLast = ({ folder }: Pick<FolderCopy, 'folder'>) =>
    allMailOnce === true && isAllMail(folder)
  const first = routes
    .filter((route) => !isLast(route))
    .map((route) => createCopy(migration, route))
  const last = routes
    .filter(isLast)
    .map((route) => createCopy({ ...migration, before: first }, route))
  return [first, last]
}

function createCopy(migration: MigrationContext, route: FolderRoute): FolderCopy {
  const saved = migration.sync?.unchanged.get(route.folder.path)
  return saved
    ? createUnchangedFolder(migration.journal, route, saved)
    : createFolderCopy(migration, route)
}

/**
 * Finds folders that ended without an error although a message that the source claims to have is not
 * accounted for. There are none, whatever servers answer: each would be a defect of the engine, which
 * must not be reported as a completed migration.
 */
function findUnaccounted(copies: readonly FolderCopy[]): FolderCopy[] {
  return copies.filter(({ state, isAccounted }) => state !== 'failed' && !isAccounted)
}

function unaccountedFailure(folder: string): CopyFailure {
  const message = `Messages of “${folder}” are not accounted for. This is a defect: please report it, and retry.`
  const unknown = { uid: null, messageId: null, size: null }
  return { folder, ...unknown, code: 'unaccounted', message, attempts: 1 }
}

async function planSyncOf(
  pair: ConnectionPair,
  deps: MigrateDeps,
  plan: MigrationPlan | null,
): Promise<SyncPlan> {
  return planSync(pair, plan?.routes.map(({ folder }) => folder) ?? [], deps)
}

/** Adds a note once: a reopened folder notes the same again. */
function addNote(notes: MigrationNote[], { folder, uid, message }: MigrationNote): void {
  const isKnown = notes.some(
    (known) => known.folder === folder && known.uid === uid && known.message === message,
  )
  if (!isKnown && notes.length < ENGINE_LIMITS.maxNotes) notes.push({ folder, uid, message })
}

/** Whether an error is about the servers or the accounts, and not about Portreeve itself. */
export function isOfServers(error: unknown): boolean {
  return (
    error instanceof Stop ||
    error instanceof Fault ||
    error instanceof ImapLost ||
    error instanceof ImapRefused
  )
}

function outcomeOf(
  plan: MigrationPlan | null,
  progress: MigrationProgress,
  notes: MigrationNote[],
  sync: SyncOutcome | null,
  stopped: MigrationOutcome['stopped'],
): MigrationOutcome {
  const folders = plan?.routes.map(({ mapped }) => mapped) ?? []
  return {
    state: progress.errorCount === 0 ? 'completed' : 'failed',
    progress,
    folders,
    notes,
    sync,
    stopped,
  }
}

/** Lets running commands end after an abort, for a limited time. */
function afterAbort(signal: AbortSignal, act: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const start = () => (timer = setTimeout(act, ENGINE_LIMITS.stopGraceMs))
  signal.addEventListener('abort', start, { once: true })
  return () => {
    signal.removeEventListener('abort', start)
    clearTimeout(timer)
  }
}
