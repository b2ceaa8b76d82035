import type { MigrationContext, MigrationNote } from '../context.ts'
import { createAppender, type Appender } from '../../../net/imap/append/append.ts'
import { discardsRejectedLiterals } from '../../../net/imap/append/literal-probe.ts'
import type { Metadata } from '../../../net/imap/fetch/fetch-metadata.ts'
import type { MailboxView } from '../../../net/imap/folders/mailbox-view.ts'
import type { Folder } from '../../../net/imap/folders/list-folders.ts'
import { ImapLost, type ImapRefused } from '../../../net/imap/connection/refusals.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import { copyBatch, type RetryStrategy } from './copy-batch.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import { destinationView } from './destination-folder.ts'
import type { OwnCopyTest } from '../identify/existing-messages.ts'
import { passesFilter } from '../filter.ts'
import { ENGINE_LIMITS } from '../../limits.ts'
import type { OpenFolder } from './open-folder.ts'
import { isTemporaryFailure } from '../connections/with-retries.ts'
import { createBatchSize, type BatchSize, type BatchQueue } from './batch-queue.ts'
import { recordExisting, recordOutcomes, type FailureEvidence } from './record-outcomes.ts'
import { Reopen } from '../stop.ts'

/** The state that the workers of one call of `work` share. */
type Work = {
  readonly pair: ConnectionPair
  readonly at: OpenFolder
  readonly queue: BatchQueue
  readonly appenders: WeakMap<Wire, Appender>
  /** Resolves when the last batch so far has been sent: batches are sent in their order. */
  lastSent: Promise<void>
}

/** When a batch may be sent, and what reports that it was. */
type Turn = { before: Promise<void>; sent: () => void }

/** Copies batches of one folder and remembers the failures of its messages. */
export class FolderCopier {
  readonly folder: Folder
  readonly pace: BatchSize = createBatchSize()
  readonly evidence: FailureEvidence = {
    blamedWires: new WeakSet(),
    descriptions: new Map(),
    postponements: new Map(),
    busySince: new Map(),
    successesBefore: 0,
    isBusy: false,
    isDelayed: false,
    losses: 0,
    interruption: null,
    unreadable: new Map(),
    missing: new Set(),
  }
  readonly #migration: MigrationContext
  readonly #strategies = new Map<number, RetryStrategy>()
  /** Keywords that the destination does not store. */
  readonly #leftOut = new Set<string>()

  constructor(migration: MigrationContext, folder: Folder) {
    this.#migration = migration
    this.folder = folder
  }

  /** Forgets what happened in the last round. */
  beginRound(): void {
    this.evidence.successesBefore = this.#migration.gate.successes
    this.evidence.isBusy = false
    this.evidence.isDelayed = false
    this.evidence.interruption = null
  }

  /** Returns a connection with the folder open, with the same UIDVALIDITY as when it was opened. */
  async reading(pair: ConnectionPair, { sourceUidValidity }: OpenFolder): Promise<MailboxView> {
    const view = await pair.sourceFolder(this.folder.pathAsListed)
    if ((await view.opened()).uidValidity !== sourceUidValidity)
      throw new Reopen('The source assigned new UIDs to its messages.')
    return view
  }

  /**
   * Returns the messages to copy. Those that the filter leaves out, or that the destination has,
   * count as processed.
   * @throws Reopen, ImapRefused, ImapLost
   */
  async choose(
    pair: ConnectionPair,
    at: OpenFolder,
    rows: readonly Metadata[],
  ): Promise<readonly Metadata[]> {
    const { filter, deduplicate, note } = this.#migration
    const { existing, folderState, copiedDigests, destinationFolder } = at
    const wanted = rows.filter((row) => passesFilter(row, filter))
    // A message that was copied before may have been altered since, or be another one with the same
    // Message-ID: it is skipped with a note.
    const wereCopied = new Set<number>()
    const isOwnCopy: OwnCopyTest = ({ uid }, { content, isReturned, isAlike }) => {
      if (!isReturned || copiedDigests.has(content.exact.toString('hex'))) wereCopied.add(uid)
      return isAlike
    }
    const matches =
      existing &&
      (await existing.match(
        wanted,
        await this.reading(pair, at),
        await destinationView(pair, destinationFolder),
        { isOwnCopy: at.isRematch ? isOwnCopy : null },
      ))
    for (const { uid, size } of rows.filter((row) => !wanted.includes(row)))
      folderState.gone(uid, size ?? 0)
    return wanted.filter((row) => {
      const match = matches?.get(row.uid)
      // Of equal messages, as many are copied as the source has more.
      const isSkipped = deduplicate || wereCopied.has(row.uid)
      if (!match || match.is === 'repeated' || (match.is in SKIPPED && !isSkipped)) return true
      if (match.is === 'same') recordExisting(at, row)
      else if (match.is === 'unidentified') {
        // `verify` finds out whether it still exists.
        folderState.gone(row.uid, row.size ?? 0)
        this.evidence.missing.add(row.uid)
      } else if (match.is === 'undecided') folderState.failed(undecided(this.folder.path, row))
      else {
        folderState.skippedDiffering(row.uid, row.size ?? 0)
        note({ folder: this.folder.path, uid: row.uid, message: SKIPPED[match.is] })
      }
      this.#migration.changed()
      return false
    })
  }

  /**
   * Copies batches of a queue until it is empty or a connection breaks. Messages without an outcome
   * are left for the next pass.
   * @param workers batches in progress at once
   * @throws Stop, FolderStop, and errors that end the whole migration
   */
  async work(
    pair: ConnectionPair,
    at: OpenFolder,
    queue: BatchQueue,
    workers: number,
  ): Promise<void> {
    const appenders = new WeakMap<Wire, Appender>()
    const work: Work = { pair, at, queue, appenders, lastSent: Promise.resolve() }
    await allSettled(Array.from({ length: workers }, () => this.#copyUntilBroken(work)))
  }

  #copyUntilBroken(work: Work): Promise<void> {
    const { signal, gate } = this.#migration
    const before = gate.successes
    return this.#keepCopying(work).catch((error: unknown) => {
      signal.throwIfAborted()
      // A lost connection is attributed to its messages, which decides whether all have to wait.
      if (!isTemporaryFailure(error, gate, error instanceof ImapLost ? null : before)) throw error
      const { refusal } = (this.evidence.interruption = error as ImapLost | ImapRefused)
      this.evidence.isDelayed ||= refusal !== null && refusal.retryAfterMs !== null
    })
  }

  async #keepCopying(work: Work): Promise<void> {
    const { gate, signal } = this.#migration
    for (;;) {
      await gate.pass(signal)
      if (this.evidence.losses >= ENGINE_LIMITS.maxLosses) return
      const rows = await work.queue.nextBatch({
        reading: () => this.reading(work.pair, work.at),
        choose: (some) => this.choose(work.pair, work.at, some),
      })
      if (rows.length === 0) return
      const before = work.lastSent
      const { promise: mine, resolve: sent } = Promise.withResolvers<void>()
      work.lastSent = mine
      try {
        await this.#copyWithinMemory(work, rows, { before, sent })
      } finally {
        sent()
      }
    }
  }

  async #copyWithinMemory(work: Work, rows: Metadata[], turn: Turn): Promise<void> {
    const { bodies, pacer, signal } = this.#migration
    const bytes = countBodyBytes(rows)
    await pacer.pass(
      rows.length,
      rows.reduce((sum, { size }) => sum + (size ?? 0), 0),
      signal,
    )
    await bodies.acquire(bytes)
    try {
      await this.#copy(work, rows, turn)
    } finally {
      bodies.release(bytes)
    }
  }

  async #copy(work: Work, rows: Metadata[], { before, sent }: Turn): Promise<void> {
    const { pair, at } = work
    const [source] = await Promise.all([this.reading(pair, at), pair.destination()])
    const intending = at.folderState.recordIntent(rows.map(({ uid }) => uid))
    intending.catch(() => undefined)
    const began = performance.now()
    const outcomes = await copyBatch(rows, {
      source,
      appender: async () => this.#appenderFor(work, (await pair.destination()).wire),
      intended: intending,
      before,
      sent,
      recordsDigests: this.#migration.recordsDigests,
      strategyOf: (uid) => this.#strategies.get(uid) ?? 'as-is',
    })
    this.pace.recordDuration(performance.now() - began)
    recordOutcomes(outcomes, {
      migration: this.#migration,
      folder: this.folder.path,
      at,
      intent: await intending,
      strategies: this.#strategies,
      evidence: this.evidence,
      leftOut: this.#leftOut,
      source,
    })
  }

  #appenderFor({ appenders, at }: Work, wire: Wire): Appender {
    const known = appenders.get(wire)
    if (known) return known
    const { literals } = this.#migration
    const { name, opened } = at.destinationFolder
    const appender = createAppender(wire, name, {
      permanentFlags: opened.permanentFlags,
      synchronising: literals.mustSynchronize,
      shapes: literals.shapes,
      ...(!literals.mustSynchronize && { discardsLiterals: discardsRejectedLiterals(wire) }),
    })
    appenders.set(wire, appender)
    return appender
  }
}

/** Whether a note names a message that was skipped although its content is not at the destination. */
export function isOfSkipped({ message }: MigrationNote): boolean {
  return Object.values(SKIPPED).includes(message)
}

function undecided(folder: string, { uid, size }: Metadata) {
  const message =
    'The destination does not return a message of this size: whether it is this one cannot be decided.'
  return { folder, uid, messageId: null, size, code: 'undecided', message, attempts: 1 }
}

const SKIPPED = {
  other: 'Skipped: the destination has a message with the same Message-ID, other content.',
  unreadable:
    'Skipped: the destination has a message with the same Message-ID, and does not return its content.',
}

/** Bytes of memory for the bodies of these messages: streamed bodies need only a part of theirs. */
function countBodyBytes(rows: readonly Metadata[]): number {
  const { unknownBodyBytes, streamedBodyBytes } = ENGINE_LIMITS
  return rows.reduce(
    (sum, { size }) => sum + Math.min(size ?? unknownBodyBytes, streamedBodyBytes),
    0,
  )
}

/** Waits for all promises, then throws the first error. */
async function allSettled(running: Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(running)
  for (const result of results) if (result.status === 'rejected') throw result.reason
}
