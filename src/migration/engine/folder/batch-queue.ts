import { undescribed, type Metadata } from '../../../net/imap/fetch/fetch-metadata.ts'
import type { MailboxView } from '../../../net/imap/folders/mailbox-view.ts'
import { ENGINE_LIMITS } from '../../limits.ts'
import { isLarge } from './copy-batch.ts'
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
  /** Returns the next batch; empty when none is left. */
  nextBatch(worker: QueueWorker): Promise<Metadata[]>
}

/** The connections of one worker of the queue. */
type QueueWorker = {
  /** Returns a connection with the source’s folder open. */
  reading: () => Promise<MailboxView>
  /** Returns the messages to copy. Called once per message, in order. */
  choose: (rows: readonly Metadata[]) => Promise<readonly Metadata[]>
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
  maxBatchMessages,
}: BatchQueueOptions): BatchQueue {
  let uids = first
  const rows: Metadata[] = []
  let scanned = 0
  let scanning: Promise<void> | undefined
  let adding: Promise<boolean> | undefined

  async function scan({ reading, choose }: QueueWorker): Promise<void> {
    const segment = uids.slice(scanned, scanned + ENGINE_LIMITS.segmentMessages)
    const before = new Set(evidence.unreadable.keys())
    const isNews = (uid: number) => evidence.unreadable.has(uid) && !before.has(uid)
    const found = known?.has(segment[0] ?? 0) ? known : await describe(reading, segment)
    const wanted = segment.filter((uid) => !isNews(uid))
    const chosen = await choose(wanted.map((uid) => found.get(uid) ?? undescribed(uid)))
    scanned += segment.length
    rows.push(...chosen)
  }

  /** A server may omit a message from the answer for many that it describes alone. */
  async function describe(
    reading: QueueWorker['reading'],
    segment: readonly number[],
  ): Promise<Map<number, Metadata>> {
    const found = await readSegment(reading, segment, evidence, afterLoss)
    const missing = segment.filter((uid) => !found.has(uid) && !evidence.unreadable.has(uid))
    for (const uid of missing)
      for (const [, row] of await readSegment(reading, [uid], evidence, afterLoss))
        found.set(row.uid, row)
    return found
  }

  /** Returns whether there are more. */
  async function add(): Promise<boolean> {
    const further = await more()
    if (further.length === 0) return false
    uids = [...uids, ...further]
    onMore()
    return true
  }

  async function ensure(worker: QueueWorker): Promise<void> {
    while (rows.length === 0) {
      if (scanned < uids.length) {
        scanning ??= scan(worker).finally(() => (scanning = undefined))
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
    for (const row of rows) {
      bytes += row.size ?? 0
      if (count > 0 && (count >= most || bytes > pace.bytes || isLarge(row))) break
      count += 1
      if (isLarge(row)) break
    }
    return rows.splice(0, count)
  }

  return {
    get waiting() {
      return rows.length + uids.length - scanned
    },
    async nextBatch(worker) {
      await ensure(worker)
      const batch = cut()
      // Fetched ahead, so that no worker waits for the next segment.
      if (rows.length < ENGINE_LIMITS.segmentMessages / 2 && scanned < uids.length) {
        scanning ??= scan(worker).finally(() => (scanning = undefined))
        scanning.catch(() => undefined)
      }
      return batch
    },
  }
}
