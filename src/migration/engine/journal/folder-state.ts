import type { Metadata } from '../../../net/imap/fetch/fetch-metadata.ts'
import { packRecords, recordOf, type CopyRecord } from './copy-records.ts'
import type { CopyFailure, Journal, SavedFolder } from './journal.ts'
import { ProcessedMessages } from './processed-messages.ts'
import type { FolderStatus } from '../sync/folder-status.ts'
import { createUidSet, parseUidSet, type UidSet } from './uid-set.ts'

/**
 * A copied message: source UID, destination UID (null where the server did not report it), bytes;
 * with its metadata and digest where they are known.
 */
export type CopiedMessage = {
  uid: number
  to: number | null
  size: number
  row?: Metadata | undefined
  digest?: Buffer | null | undefined
}

export type OpenIntent = {
  /** Ends a batch. It is unknown whether these messages arrived. */
  conclude(unknown: readonly number[]): void
}

/** The state of one folder: processed messages, open batches, and the part that the journal has. */
export class FolderState {
  /** Saves the state to the journal. */
  readonly save: () => Promise<void>
  readonly #journal: Journal
  readonly #folder: string
  readonly #saved: SavedFolder
  readonly #processed: ProcessedMessages
  readonly #existing: UidSet
  readonly #differing: UidSet
  readonly #failed: UidSet
  readonly #ownCopies: UidSet
  readonly #failureCounts: Map<number, number>
  readonly #openBatches: Set<{ uids: UidSet; uidNext: number }>
  /** Grows with the keywords of the copy records. */
  readonly keywords: string[]
  #nextUid: number
  #unsavedFailures: CopyFailure[] = []
  #unsavedCopies: CopyRecord[] = []

  constructor(journal: Journal, folder: string, initial: SavedFolder) {
    this.#journal = journal
    this.#folder = folder
    this.#saved = { ...initial }
    this.#processed = new ProcessedMessages(initial)
    this.#existing = parseUidSet(initial.there)
    this.#differing = parseUidSet(initial.differing ?? '')
    this.#failed = parseUidSet(initial.failed)
    this.#ownCopies = parseUidSet(initial.copiedTo)
    this.#failureCounts = new Map(initial.suspicions)
    this.#openBatches = new Set(
      initial.intents.map(({ uids, uidNext }) => ({ uids: parseUidSet(uids), uidNext })),
    )
    this.keywords = [...(initial.keywords ?? [])]
    this.#nextUid = initial.destinationUidNext
    this.save = createSaver(() => this.#write())
  }

  /** The durable form of the state. */
  get saved(): SavedFolder {
    return {
      ...this.#saved,
      ...this.#processed.toSaved(),
      there: this.#existing.toString(),
      differing: this.#differing.toString(),
      failed: this.#failed.toString(),
      copiedTo: this.#ownCopies.toString(),
      keywords: [...this.keywords],
      suspicions: [...this.#failureCounts],
      intents: [...this.#openBatches].map(({ uids, uidNext }) => ({
        uids: uids.toString(),
        uidNext,
      })),
    }
  }

  /**
   * Source UIDs left to copy, ascending. Sets the UIDs that `lastUid` refers to.
   * @param isWhole whether they are known to be all that the source has
   */
  start(sourceUids: readonly number[], isWhole: boolean): number[] {
    return this.#processed.start(sourceUids, isWhole)
  }

  /** Every message that the source has is among these, and processed. */
  settle(sourceUids: readonly number[]): void {
    this.#processed.settle(sourceUids)
  }

  /** Source messages from this UID on are not part of this run, unless `extend` adds them. */
  get sourceUidNext(): number {
    return this.#saved.sourceUidNext
  }

  /** Adds source messages that arrived during this run, ascending, from `sourceUidNext` on. */
  extend(sourceUids: readonly number[]): void {
    this.#processed.extend(sourceUids)
    this.#saved.sourceUidNext = (sourceUids.at(-1) ?? this.#saved.sourceUidNext - 1) + 1
  }

  /** Messages below this UID are part of this run: a source may report a UIDNEXT that is too small. */
  extendTo(uidNext: number): void {
    this.#saved.sourceUidNext = Math.max(this.#saved.sourceUidNext, uidNext)
  }

  /** Adds source messages below `sourceUidNext` that the first listing of this run omitted. */
  addOmitted(sourceUids: readonly number[]): void {
    this.#processed.addOmitted(sourceUids)
  }

  /** Adds messages below `lastUid` that no run has processed: the source did not list them. */
  addUnprocessed(sourceUids: readonly number[]): void {
    this.#processed.addUnprocessed(sourceUids)
  }

  isDone(uid: number): boolean {
    return this.#processed.has(uid)
  }

  /** Number of messages left. */
  get left(): number {
    return this.#processed.left
  }

  get lastUid(): number {
    return this.#processed.lastUid
  }

  /** Number of messages that were copied, already there, or failed. */
  get processedCount(): number {
    return this.#saved.copied + this.skippedCount + this.failedCount
  }

  get skippedCount(): number {
    return this.#existing.size
  }

  get failedCount(): number {
    return this.#failed.size
  }

  /** Of the failed messages, those that the journal has. */
  get reportedCount(): number {
    return this.failedCount - this.#unsavedFailures.length
  }

  /** Bytes of all processed messages, copied or not. */
  get bytes(): number {
    return this.#saved.bytes + this.#saved.aside
  }

  /**
   * Records a batch before it is sent. Durable when it resolves: only then may its last byte be
   * sent.
   */
  async recordIntent(uids: readonly number[]): Promise<OpenIntent> {
    const batch = { uids: createUidSet(uids), uidNext: this.#nextUid }
    this.#openBatches.add(batch)
    await this.save()
    return {
      conclude: (unknown) => {
        if (unknown.length === 0) this.#openBatches.delete(batch)
        else batch.uids = createUidSet(unknown)
      },
    }
  }

  copied(copies: readonly CopiedMessage[]): void {
    for (const { uid, to, size, row, digest = null } of copies) {
      if (row) this.record(recordOf(row, { to, size, digest }, this.keywords))
      if (to !== null) this.#ownCopies.add(to)
      if (to !== null && to >= this.#nextUid) this.#nextUid = to + 1
      this.#saved.copied += 1
      this.#saved.bytes += size
      this.#conclude(uid)
    }
  }

  /** The number of copies whose UIDs the destination did not report and that were not found yet. */
  get withoutUid(): number {
    return this.#saved.withoutUid ?? 0
  }

  set withoutUid(count: number) {
    this.#saved.withoutUid = count
  }

  /** A copy turned out not to be there. Another outcome of its message must follow. */
  uncopied({ to, size }: { to: number | null; size: number }): void {
    if (to !== null) this.#ownCopies.delete(to)
    this.#saved.copied -= 1
    this.#saved.bytes -= size
  }

  /**
   * The destination does not have a copy under the UID that it reported.
   * @param copy null where it is the UID of another copy
   */
  lostUid(copy: CopyRecord | null, to: number): void {
    if (copy) {
      this.#ownCopies.delete(to)
      this.record({ ...copy, to: 0 })
    }
    this.withoutUid += 1
  }

  /** Adds the record of a copy, or replaces it. */
  record(copy: CopyRecord): void {
    this.#unsavedCopies.push(copy)
  }

  /** The destination has the message from elsewhere, or we copied it to another folder. */
  skipped(uid: number, size: number): void {
    this.#existing.add(uid)
    this.gone(uid, size)
  }

  /** Skipped: the destination has a message with the same Message-ID and other content. */
  skippedDiffering(uid: number, size: number): void {
    this.#differing.add(uid)
    this.skipped(uid, size)
  }

  /** The message was deleted at the source meanwhile. */
  gone(uid: number, size: number): void {
    this.#saved.aside += size
    this.#conclude(uid)
  }

  failed(failure: CopyFailure & { uid: number }): void {
    this.#failed.add(failure.uid)
    this.#unsavedFailures.push(failure)
    this.gone(failure.uid, failure.size ?? 0)
  }

  failureCountOf(uid: number): number {
    return this.#failureCounts.get(uid) ?? 0
  }

  /** Sum over all messages. */
  get totalFailureCount(): number {
    return [...this.#failureCounts.values()].reduce((sum, times) => sum + times, 0)
  }

  countFailures(uids: readonly number[]): void {
    for (const uid of uids) this.#failureCounts.set(uid, this.failureCountOf(uid) + 1)
  }

  /**
   * Batches without a known outcome, and the smallest UID that they can have at the destination.
   */
  unresolvedBatches(): { uids: number[]; uidNext: number } | null {
    const batches = [...this.#openBatches]
    const uids = batches.flatMap((batch) => [...batch.uids]).filter((uid) => !this.isDone(uid))
    if (uids.length === 0) return null
    return {
      uids: uids.toSorted((a, b) => a - b),
      uidNext: Math.min(...batches.map(({ uidNext }) => uidNext)),
    }
  }

  /** Whether batches are recorded as open. */
  get hasIntents(): boolean {
    return this.#openBatches.size > 0
  }

  /** Removes the open batches once each of their messages is recorded or left to copy. */
  async clearIntents(): Promise<void> {
    this.#openBatches.clear()
    await this.save()
  }

  isOwnCopy(destinationUid: number): boolean {
    return this.#ownCopies.has(destinationUid)
  }

  isExisting(uid: number): boolean {
    return this.#existing.has(uid)
  }

  isDiffering(uid: number): boolean {
    return this.#differing.has(uid)
  }

  /** Whether a message was skipped or failed: it has no copy of ours. */
  hasNoCopy(uid: number): boolean {
    return this.#existing.has(uid) || this.#failed.has(uid)
  }

  /**
   * Marks the folder as done.
   * @param sourceModseq modification sequence of the source up to which all flags are at the
   *   destination
   * @param seen the source’s status before this pass of a synchronization
   */
  async finish(sourceModseq: string | null, seen: FolderStatus | null): Promise<void> {
    this.#saved.sourceModseq = sourceModseq
    this.#saved.seen = seen
    this.#saved.isDone = true
    // Failed messages may have copies of before a renumbering, which a retry must find.
    if (this.failedCount === 0) this.#saved.hasEarlierCopies = false
    this.withoutUid = 0
    await this.save()
  }

  #conclude(uid: number): void {
    if (this.#processed.add(uid)) this.#failureCounts.delete(uid)
  }

  async #write(): Promise<void> {
    const failures = this.#unsavedFailures
    const copies = this.#unsavedCopies
    this.#unsavedFailures = []
    this.#unsavedCopies = []
    const packed = copies.length > 0 ? packRecords(copies) : undefined
    try {
      await this.#journal.save(this.#folder, this.saved, failures, packed)
    } catch (error) {
      this.#unsavedFailures = [...failures, ...this.#unsavedFailures]
      this.#unsavedCopies = [...copies, ...this.#unsavedCopies]
      throw error
    }
  }
}

/** Combines saves: one write after the current one serves all callers. */
function createSaver(write: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | null = null
  let next: Promise<void> | null = null

  async function run(): Promise<void> {
    next = null
    running = write()
    try {
      await running
    } finally {
      running = null
    }
  }

  return () => (next ??= running ? running.then(run, run) : Promise.resolve().then(run))
}
