import type { FolderRoute } from '../plan/mapping.ts'
import type { FolderCopy, MigrationContext } from '../context.ts'
import { messageOf } from '../../../errors.ts'
import { ImapLost, ImapRefused } from '../../../net/imap/connection/refusals.ts'
import { copyFlags } from './copy-flags.ts'
import { FolderCopier } from './folder-copier.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import { ENGINE_LIMITS } from '../../limits.ts'
import type { FolderState } from '../journal/folder-state.ts'
import { listArrived, openFolder, type OpenFolder } from './open-folder.ts'
import { backOff, withRetries, type LossBlame } from '../connections/with-retries.ts'
import { destinationView, nameOf } from './destination-folder.ts'
import { reconcile, tellsAllUids } from './reconcile.ts'
import { createBatchQueue, type BatchQueue } from './batch-queue.ts'
import { codeOf, FolderStop, Reopen } from '../stop.ts'
import type { FolderStatus } from '../sync/folder-status.ts'
import type { Relocation } from '../sync/pass.ts'
import { relocate } from '../sync/relocate.ts'
import { syncFlags } from '../sync/sync-flags.ts'
import { failUnreadableMessages, verify } from './verify-folder.ts'

export function createFolderCopy(migration: MigrationContext, route: FolderRoute): FolderCopy {
  return new ImapFolderCopy(migration, route)
}

class ImapFolderCopy implements FolderCopy {
  readonly folder: FolderRoute['folder']
  bytes: FolderRoute['bytes']
  readonly begun: Promise<void>
  state: FolderCopy['state'] = 'waiting'
  failedBefore = 0

  readonly #migration: MigrationContext
  readonly #mapped: FolderRoute['mapped']
  #copier: FolderCopier
  readonly #markBegun: () => void
  #open: OpenFolder | null = null
  /** The batches that other connection pairs can help with now. */
  #queue: BatchQueue | null = null
  readonly #helpers = new Set<Promise<void>>()
  /** Whether it shares its connections with other folders: until one breaks at it. */
  #isSharing = false

  constructor(migration: MigrationContext, { folder, mapped, bytes }: FolderRoute) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.begun = promise
    this.#markBegun = resolve
    this.folder = folder
    this.bytes = bytes
    this.#migration = migration
    this.#mapped = mapped
    this.#copier = new FolderCopier(migration, folder)
  }

  get destination(): string {
    return this.#open?.destinationFolder.path ?? this.#mapped.destination
  }

  get folderState(): FolderState | null {
    return this.#open?.folderState ?? null
  }

  get isAccounted(): boolean {
    const at = this.#open
    return at !== null && at.isVerified && at.uids.every((uid) => at.folderState.isDone(uid))
  }

  get waiting(): number {
    return this.#queue?.waiting ?? 0
  }

  async run(pair: ConnectionPair): Promise<void> {
    this.state = 'running'
    this.#isSharing = true
    pair.sharing.enter()
    this.#migration.changed()
    try {
      await this.#copyWithReopens(pair)
      this.state = 'done'
    } catch (error) {
      await this.#stop(pair, error)
    } finally {
      this.#stopSharing(pair)
      this.#markBegun()
      this.#migration.changed()
    }
  }

  async count(pair: ConnectionPair): Promise<void> {
    const { folder } = this
    try {
      this.#requireSelectable()
      const opened = await this.#retrying(pair, async () =>
        (await pair.sourceFolder(folder.pathAsListed)).opened(),
      )
      folder.messages = opened.exists
    } catch (error) {
      await this.#stop(pair, error)
    }
    this.#migration.changed()
  }

  /** Retries work on this folder. */
  #retrying<T>(pair: ConnectionPair, attempt: (failures: number) => Promise<T>): Promise<T> {
    const whenAlone = async (failures: number) => {
      if (failures > 0) await this.#whenAlone(pair)
      return attempt(failures)
    }
    return withRetries(this.#migration, whenAlone, this.#blameOf(pair))
  }

  #blameOf(pair: ConnectionPair): LossBlame {
    const { destination } = this.#migration
    return (lost) => {
      const blame = pair.blameFor(lost, {
        source: this.folder.pathAsListed,
        destination:
          this.#open?.destinationFolder.name ?? nameOf(this.#mapped.destination, destination),
      })
      if (blame === 'here') this.#stopSharing(pair)
      return blame
    }
  }

  #stopSharing(pair: ConnectionPair): void {
    if (this.#isSharing) pair.sharing.leave()
    this.#isSharing = false
  }

  /** Once a connection broke at this folder, waits until no other folder would lose it as well. */
  async #whenAlone(pair: ConnectionPair): Promise<void> {
    if (!this.#isSharing) await pair.sharing.empty(this.#migration.signal)
  }

  async help(pair: ConnectionPair): Promise<void> {
    if (!this.#queue || !this.#open) return
    const { batchesInProgress } = ENGINE_LIMITS
    const helping = this.#copier.work(pair, this.#open, this.#queue, batchesInProgress)
    const quiet = helping.catch(() => undefined)
    this.#helpers.add(quiet)
    await helping.finally(() => this.#helpers.delete(quiet))
  }

  /** Ends the folder with an error. Errors of the whole migration are thrown. */
  async #stop(pair: ConnectionPair, error: unknown): Promise<void> {
    this.state = 'stopped'
    const reason =
      error instanceof ImapLost && this.#blameOf(pair)(error) === 'here' ? lostAt(error) : error
    if (!(reason instanceof FolderStop || reason instanceof ImapRefused)) throw error
    this.state = 'failed'
    await this.#migration.journal.report(folderFailure(this.folder.path, reason))
  }

  async #copyWithReopens(pair: ConnectionPair): Promise<void> {
    this.#requireSelectable()
    for (let tries = 1; ; tries++) {
      try {
        return await this.#copyWhole(pair, tries > 1)
      } catch (error) {
        if (!(error instanceof Reopen) || tries === ENGINE_LIMITS.maxReopens) throw error
        this.#migration.log.info({ folder: this.folder.path }, error.message)
      }
    }
  }

  /** A folder that holds no messages cannot be opened. It is listed for those below it. */
  #requireSelectable(): void {
    if (this.folder.isSelectable) return
    throw new FolderStop(
      'not_selectable',
      `“${this.folder.path}” holds no messages: the source lists it only as the parent of other folders. Select those.`,
    )
  }

  async #copyWhole(pair: ConnectionPair, isAgain: boolean): Promise<void> {
    const migration = this.#migration
    // What failed before has other UIDs now, or another state.
    if (isAgain) this.#copier = new FolderCopier(migration, this.folder)
    const copier = this.#copier
    const at = await this.#retrying(pair, (failures) =>
      openFolder(
        pair,
        this.folder,
        { wanted: this.#mapped.destination, isAgain },
        { ...migration, listsAtOnce: failures === 0 },
      ),
    )
    const before = this.#open?.folderState
    // A renumbered folder begins with a new state. What the report does not have is tried again.
    if (before && at.folderState.failedCount < before.reportedCount)
      this.failedBefore += before.reportedCount - at.folderState.failedCount
    this.#open = at
    this.#noteName(at.destinationFolder.path)
    migration.changed()
    const synced = migration.sync?.folder(this.folder.path) ?? null
    if (synced?.relocations) await this.#relocate(pair, at, synced.relocations)
    do await this.#copyRounds(pair, at)
    while (
      !(await this.#retrying(pair, (failures) => verify(pair, at, copier, migration, failures)))
    )
    if (synced)
      await this.#retrying(pair, () => syncFlags(pair, at, synced, this.folder.path, migration))
    else if (migration.withNewMail)
      await this.#retrying(pair, () => copyFlags(pair, at, copier, migration))
    if (synced?.isUnknown) return at.folderState.finish(at.folderState.saved.sourceModseq, null)
    const status = synced?.status ?? null
    const modseq = status ? status.modseq : at.sourceModseq
    await at.folderState.finish(modseq, status && isCovered(status, at) ? status : null)
  }

  /** Before anything is copied, so that a message that was moved is not copied again. */
  async #relocate(
    pair: ConnectionPair,
    at: OpenFolder,
    relocations: ReadonlyMap<number, Relocation>,
  ): Promise<void> {
    await this.#retrying(pair, async () => {
      await this.#reconcile(pair, at)
      await relocate(pair, at, relocations, this.#migration)
    })
  }

  #noteName(path: string): void {
    const { destination, altered, inTheWay } = this.#mapped
    if (!altered && path === destination) return
    const why = inTheWay === null ? '' : `, because another folder goes to “${inTheWay}”`
    this.#migration.note({ folder: this.folder.path, message: `It became “${path}”${why}.` })
  }

  async #copyRounds(pair: ConnectionPair, at: OpenFolder): Promise<void> {
    const { waitTimes, signal } = this.#migration
    const { folderState } = at
    const { evidence } = this.#copier
    const blameOf = this.#blameOf(pair)
    let idle = 0
    let elsewhere = 0
    let words = ''
    const { maxIdleRounds, maxLosses } = ENGINE_LIMITS
    while (idle < maxIdleRounds && Math.max(elsewhere, evidence.losses) < maxLosses) {
      await this.#whenAlone(pair)
      await this.#retrying(pair, () => this.#reconcile(pair, at))
      failUnreadableMessages(at, this.#copier)
      const left = folderState.start(at.uids, at.isCounted)
      if (left.length === 0) return
      const known = folderState.totalFailureCount
      this.#copier.beginRound()
      await this.#copyRound(pair, at, chooseRound(folderState, left))
      signal.throwIfAborted()
      this.#isolateUnreadable(folderState)
      const { interruption } = evidence
      words = interruption?.message ?? words
      const blame = interruption instanceof ImapLost ? blameOf(interruption) : 'unknown'
      if (left.some((uid) => folderState.isDone(uid))) idle = elsewhere = 0
      else if (folderState.totalFailureCount > known) {
        idle = elsewhere = 0
        if (evidence.isBusy)
          await backOff(
            Math.max(...left.map((uid) => folderState.failureCountOf(uid))),
            waitTimes,
            signal,
          )
      } else if (!evidence.isDelayed) {
        if (blame === 'elsewhere') elsewhere += 1
        else idle += 1
        await backOff(Math.max(1, idle), waitTimes, signal)
      }
    }
    throw new FolderStop(
      'stuck',
      `Nothing more of “${this.folder.path}” could be copied in ${Math.max(idle, elsewhere, evidence.losses)} attempts. ${words}`.trim(),
    )
  }

  /** Messages whose metadata broke connections are copied alone, in a later round. */
  #isolateUnreadable(folderState: FolderState): void {
    const { unreadable, busySince, successesBefore } = this.#copier.evidence
    for (const uid of unreadable.keys()) {
      if (!busySince.has(uid)) busySince.set(uid, successesBefore)
      const isSuspect = () => folderState.failureCountOf(uid) >= ENGINE_LIMITS.maxBreaks.alone
      while (!folderState.isDone(uid) && !isSuspect()) folderState.countFailures([uid])
    }
  }

  async #reconcile(pair: ConnectionPair, at: OpenFolder): Promise<void> {
    if (!at.folderState.hasIntents) return
    const destination = await destinationView(pair, at.destinationFolder)
    const reading = () => this.#copier.reading(pair, at)
    await reconcile(at.folderState, reading, destination, this.#migration)
  }

  /** Takes what arrived at a source that still grows into this run. Returns the UIDs. */
  async #takeArrived(pair: ConnectionPair, at: OpenFolder): Promise<readonly number[]> {
    const migration = this.#migration
    for (;;) {
      const bytes = (await migration.arriving?.(this.folder.path)) ?? null
      if (bytes === null) return []
      const uids = await this.#retrying(pair, async () =>
        listArrived(await this.#copier.reading(pair, at), at),
      )
      this.bytes = bytes
      if (uids.length > 0) return uids
    }
  }

  async #copyRound(
    pair: ConnectionPair,
    at: OpenFolder,
    { uids, maxBatchMessages, isTrusted }: Round,
  ): Promise<void> {
    const copier = this.#copier
    const queue = createBatchQueue({
      uids,
      more: () => (isTrusted ? this.#takeArrived(pair, at) : Promise.resolve([])),
      onMore: () => this.#migration.grown(),
      known: at.rows,
      pace: copier.pace,
      evidence: copier.evidence,
      afterLoss: async () => {
        this.#stopSharing(pair)
        await this.#whenAlone(pair)
      },
      maxBatchMessages,
    })
    const { wire } = await pair.destination()
    // Without the UIDs of copies, the outcome of only one open batch can be found out.
    const isSingle = !isTrusted || !tellsAllUids(wire, at.folderState)
    this.#queue = isSingle ? null : queue
    this.#markBegun()
    try {
      await copier.work(pair, at, queue, isSingle ? 1 : ENGINE_LIMITS.batchesInProgress)
    } finally {
      this.#queue = null
      await Promise.all(this.#helpers)
    }
  }
}

/** Whether all messages that a status counts were listed. */
function isCovered({ uidNext }: FolderStatus, { folderState }: OpenFolder): boolean {
  return uidNext !== null && folderState.saved.sourceUidNext >= uidNext
}

/** Messages that are copied together. `isTrusted`: none of them has failed. */
type Round = { uids: number[]; maxBatchMessages: number; isTrusted: boolean }

/**
 * Chooses messages that have not failed first. Messages that were in a batch whose connection broke
 * follow in small batches, and finally alone, so that they affect no others.
 */
function chooseRound(folderState: FolderState, left: number[]): Round {
  const { maxBreaks, suspiciousBatchMessages } = ENGINE_LIMITS
  const trusted = left.filter((uid) => folderState.failureCountOf(uid) === 0)
  if (trusted.length > 0) return { uids: trusted, maxBatchMessages: Infinity, isTrusted: true }
  const shared = left.filter((uid) => folderState.failureCountOf(uid) < maxBreaks.alone)
  if (shared.length > 0)
    return { uids: shared, maxBatchMessages: suspiciousBatchMessages, isTrusted: false }
  return { uids: left, maxBatchMessages: 1, isTrusted: false }
}

function lostAt(lost: ImapLost): FolderStop {
  return new FolderStop(
    'connection_lost',
    `The connection broke each time this folder was opened or read. ${lost.message}`,
    lost,
  )
}

function folderFailure(folder: string, error: Error) {
  return {
    folder,
    uid: null,
    messageId: null,
    size: null,
    code: codeOf(error),
    message: messageOf(error),
    attempts: 1,
  }
}
