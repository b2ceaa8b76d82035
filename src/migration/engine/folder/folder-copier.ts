import type { MigrationContext } from '../context.ts'
import { createAppender, type Appender } from '../../../net/imap/append/append.ts'
import type { Metadata } from '../../../net/imap/fetch/fetch-metadata.ts'
import type { Folder } from '../../../net/imap/folders/list-folders.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import { copyBatch, type RetryStrategy } from './copy-batch.ts'
import { contentFingerprint, messageIdOf } from '../identify/fingerprint.ts'
import type { ConnectionPair } from '../connections/connection-pair.ts'
import { ENGINE_LIMITS } from '../../limits.ts'
import type { OpenFolder } from './open-folder.ts'
import { isTemporaryFailure } from '../connections/with-retries.ts'
import type { DestinationFolder } from './destination-folder.ts'
import { createBatchSize, type BatchSize, type BatchQueue } from './batch-queue.ts'
import { recordExisting, recordOutcomes, type FailureEvidence } from './record-outcomes.ts'
import { Reopen } from '../stop.ts'

/** Copies batches of one folder and remembers the failures of its messages. */
export type FolderCopier = {
  readonly folder: Folder
  readonly pace: BatchSize
  readonly evidence: FailureEvidence
  /** Returns a connection with the folder open, with the same UIDVALIDITY as when it was opened. */
  reading(pair: ConnectionPair, at: OpenFolder): Promise<Wire>
  /**
   * Whether the destination already has a message with this Message-ID; if so, counts it as
   * processed.
   */
  isThere(at: OpenFolder, row: Metadata): boolean
  /**
   * Copies batches of a queue until it is empty or a connection breaks. Messages without an outcome
   * are left for the next pass.
   * @param workers batches in progress at once
   * @throws Stop, FolderStop, and errors that end the whole migration
   */
  work(pair: ConnectionPair, at: OpenFolder, queue: BatchQueue, workers: number): Promise<void>
}

type Turn = { before: Promise<void>; sent: () => void; appenders: WeakMap<Wire, Appender> }

export function createFolderCopier(migration: MigrationContext, folder: Folder): FolderCopier {
  const { gate, signal } = migration
  const strategies = new Map<number, RetryStrategy>()
  const evidence: FailureEvidence = {
    blamedWires: new WeakSet(),
    descriptions: new Map(),
    postponements: new Map(),
    missing: new Set(),
  }
  const leftOut = new Set<string>()
  const pace = createBatchSize()

  async function reading(pair: ConnectionPair, { sourceUidValidity }: OpenFolder): Promise<Wire> {
    const { wire, opened } = await pair.openSource(folder.pathAsListed)
    if (opened.uidValidity !== sourceUidValidity)
      throw new Reopen('The source assigned new UIDs to its messages.')
    return wire
  }

  function isThere(at: OpenFolder, row: Metadata): boolean {
    const id = at.tally && messageIdOf(row.messageIds)
    if (!at.tally || id === null || !at.tally.take(id)) return false
    recordExisting(at, row)
    migration.changed()
    return true
  }

  async function work(
    pair: ConnectionPair,
    at: OpenFolder,
    queue: BatchQueue,
    workers: number,
  ): Promise<void> {
    const appenders = new WeakMap<Wire, Appender>()
    let last: Promise<void> = Promise.resolve()

    async function keepCopying(): Promise<void> {
      for (;;) {
        await gate.pass(signal)
        const rows = await queue.nextBatch(() => reading(pair, at))
        if (rows.length === 0) return
        const before = last
        const { promise: mine, resolve: sent } = Promise.withResolvers<void>()
        last = mine
        try {
          await copy(pair, at, rows, { before, sent, appenders })
        } finally {
          sent()
        }
      }
    }

    const untilBroken = () =>
      keepCopying().catch((error: unknown) => {
        signal.throwIfAborted()
        if (!isTemporaryFailure(error, gate)) throw error
      })
    await allSettled(Array.from({ length: workers }, untilBroken))
  }

  async function copy(
    pair: ConnectionPair,
    at: OpenFolder,
    rows: Metadata[],
    { before, sent, appenders }: Turn,
  ): Promise<void> {
    const { folderState, destinationFolder, tally } = at
    const weight = rows.reduce(
      (sum, { size }) =>
        sum + Math.min(size ?? ENGINE_LIMITS.unknownBodyBytes, ENGINE_LIMITS.streamedBodyBytes),
      0,
    )
    await migration.bodies.acquire(weight)
    try {
      const [source] = await Promise.all([reading(pair, at), pair.destination()])
      const intending = folderState.recordIntent(rows.map(({ uid }) => uid))
      intending.catch(() => undefined)
      const began = performance.now()
      const outcomes = await copyBatch(rows, {
        source,
        appender: async () =>
          appenderFor(appenders, (await pair.destination()).wire, destinationFolder),
        intended: intending,
        before,
        sent,
        isThere: tally && ((head) => tally.take(contentFingerprint(head))),
        strategyOf: (uid) => strategies.get(uid) ?? 'as-is',
      })
      pace.recordDuration(performance.now() - began)
      const intent = await intending
      recordOutcomes(outcomes, {
        migration,
        folder: folder.path,
        at,
        intent,
        strategies,
        evidence,
        leftOut,
        source,
      })
    } finally {
      migration.bodies.release(weight)
    }
  }

  function appenderFor(
    appenders: WeakMap<Wire, Appender>,
    wire: Wire,
    { name, opened }: DestinationFolder,
  ): Appender {
    const known = appenders.get(wire)
    if (known) return known
    const [{ permanentFlags }, { shapes }] = [opened, migration]
    const appender = createAppender(wire, name, {
      permanentFlags,
      synchronising: evidence.needsSynchronizing,
      shapes,
    })
    appenders.set(wire, appender)
    return appender
  }

  return { folder, pace, evidence, reading, isThere, work }
}

/** Waits for all promises, then throws the first error. */
async function allSettled(running: Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(running)
  for (const result of results) if (result.status === 'rejected') throw result.reason
}
