import type { Metadata } from '../../../net/imap/fetch/fetch-metadata.ts'
import { IMAP_LIMITS as WIRE } from '../../../net/imap/limits.ts'
import type { MailboxView } from '../../../net/imap/folders/mailbox-view.ts'
import { ENGINE_LIMITS } from '../../limits.ts'
import type { FailureEvidence } from './record-outcomes.ts'
import { readSegment } from './read-segment.ts'

/** The current size of batches. */
export type BatchSize = {
  readonly messages: number
  readonly bytes: number
  /** @param milliseconds duration of a whole batch */
  recordDuration(milliseconds: number): void
}

export function createBatchSize(): BatchSize {
  let share = 1
  const { shortMs, longMs } = ENGINE_LIMITS.batchTime
  return {
    get messages() {
      return Math.max(1, Math.round(ENGINE_LIMITS.batch.messages * share))
    },
    get bytes() {
      return Math.round(ENGINE_LIMITS.batch.bytes * share)
    },
    recordDuration(milliseconds) {
      if (milliseconds > longMs) share = Math.max(share / 2, 1 / 64)
      else if (milliseconds < shortMs) share = Math.min(share * 2, 1)
    },
  }
}

/** The messages of one pass over a folder: fetched in segments and handed out in batches. */
export type BatchQueue = {
  /** Messages that are in no batch yet. */
  readonly waiting: number
  /**
   * Returns the next batch; empty when none is left.
   * @param reading returns a connection with the folder open
   */
  nextBatch(reading: () => Promise<MailboxView>): Promise<Metadata[]>
}

type BatchQueueOptions = {
  /** Ascending. */
  uids: readonly number[]
  /** Returns further UIDs, ascending, once the source has some; empty when it will have none. */
  more: () => Promise<readonly number[]>
  /** Called once they are in the queue. */
  onMore: () => void
  /** Metadata that is known already. */
  known: ReadonlyMap<number, Metadata> | null
  pace: BatchSize
  /** Messages whose metadata breaks connections are left for a later round. */
  evidence: Pick<FailureEvidence, 'unreadable' | 'losses'>
  /** Called after a connection broke at metadata. */
  afterLoss: () => Promise<void>
  /** Whether the destination already has the message. Called once per message, in order. */
  isThere: (row: Metadata) => boolean
  /** Maximum messages of a batch. */
  maxBatchMessages: number
}

export function createBatchQueue({
  uids: first,
  more,
  onMore,
  known,
  pace,
  evidence,
  afterLoss,
  isThere,
  maxBatchMessages,
}: BatchQueueOptions): BatchQueue {
  let uids = first
  const rows: Metadata[] = []
  let scanned = 0
  let scanning: Promise<void> | undefined
  let adding: Promise<boolean> | undefined

  async function scan(reading: () => Promise<MailboxView>): Promise<void> {
    const segment = uids.slice(scanned, scanned + ENGINE_LIMITS.segmentMessages)
    const before = new Set(evidence.unreadable.keys())
    const isNews = (uid: number) => evidence.unreadable.has(uid) && !before.has(uid)
    const found = known?.has(segment[0] ?? 0)
      ? known
      : await readSegment(reading, segment, evidence, afterLoss)
    scanned += segment.length
    // A server may omit messages that it cannot describe. The fetch of the body shows whether they
    // still exist.
    rows.push(
      ...segment
        .filter((uid) => !isNews(uid))
        .map((uid) => found.get(uid) ?? unknownMetadata(uid))
        .filter((row) => !isThere(row)),
    )
  }

  /** Returns whether there are more. */
  async function add(): Promise<boolean> {
    const further = await more()
    if (further.length === 0) return false
    uids = [...uids, ...further]
    onMore()
    return true
  }

  async function ensure(reading: () => Promise<MailboxView>): Promise<void> {
    while (rows.length === 0) {
      if (scanned < uids.length) {
        scanning ??= scan(reading).finally(() => (scanning = undefined))
        await scanning
      } else {
        adding ??= add().finally(() => (adding = undefined))
        if (!(await adding)) return
      }
    }
  }

  function cut(): Metadata[] {
    const most = Math.min(maxBatchMessages, pace.messages)
    let [count, bytes] = [0, 0]
    for (const { size } of rows) {
      bytes += size ?? 0
      const isLarge = (size ?? 0) > WIRE.streamAboveBytes
      if (count > 0 && (count >= most || bytes > pace.bytes || isLarge)) break
      count += 1
      if (isLarge) break
    }
    return rows.splice(0, count)
  }

  return {
    get waiting() {
      return rows.length + uids.length - scanned
    },
    async nextBatch(reading) {
      await ensure(reading)
      const batch = cut()
      // Fetched ahead, so that no worker waits for the next segment.
      if (rows.length < ENGINE_LIMITS.segmentMessages / 2 && scanned < uids.length) {
        scanning ??= scan(reading).finally(() => (scanning = undefined))
        scanning.catch(() => undefined)
      }
      return batch
    },
  }
}

function unknownMetadata(uid: number): Metadata {
  return { uid, flags: [], internalDate: null, size: null, messageIds: [], objectId: null }
}
