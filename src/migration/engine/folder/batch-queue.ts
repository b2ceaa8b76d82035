import { fetchMetadata, type Metadata } from '../../../net/imap/fetch/fetch-metadata.ts'
import { LIMITS as WIRE } from '../../../net/imap/limits.ts'
import type { Wire } from '../../../net/imap/connection/wire.ts'
import { LIMITS } from '../../limits.ts'

/** How large batches are at present. */
export type BatchSize = {
  readonly messages: number
  readonly bytes: number
  /** @param milliseconds a whole batch took */
  recordDuration(milliseconds: number): void
}

export function createBatchSize(): BatchSize {
  let share = 1
  const { shortMs, longMs } = LIMITS.batchTime
  return {
    get messages() {
      return Math.max(1, Math.round(LIMITS.batch.messages * share))
    },
    get bytes() {
      return Math.round(LIMITS.batch.bytes * share)
    },
    recordDuration(milliseconds) {
      if (milliseconds > longMs) share = Math.max(share / 2, 1 / 64)
      else if (milliseconds < shortMs) share = Math.min(share * 2, 1)
    },
  }
}

/**
 * Messages of one folder on their way through one queue: scanned a segment at a time, handed out in
 * batches.
 */
export type BatchQueue = {
  /** Messages that no batch holds yet. */
  readonly waiting: number
  /**
   * The next batch; empty when there is none.
   * @param reading gives a connection with the folder open
   */
  nextBatch(reading: () => Promise<Wire>): Promise<Metadata[]>
}

type BatchQueueOptions = {
  /** Ascending. */
  uids: readonly number[]
  pace: BatchSize
  /** Whether it needs no copy, because there is one; asked once of each message, in order. */
  isThere: (row: Metadata) => boolean
  /** How many messages may share a batch. */
  maxBatchMessages: number
}

export function createBatchQueue({
  uids,
  pace,
  isThere,
  maxBatchMessages,
}: BatchQueueOptions): BatchQueue {
  const rows: Metadata[] = []
  let scanned = 0
  let scanning: Promise<void> | undefined

  async function scan(reading: () => Promise<Wire>): Promise<void> {
    const segment = uids.slice(scanned, scanned + LIMITS.segmentMessages)
    const found = new Map<number, Metadata>()
    const [first = 0, last = 0] = [segment[0], segment.at(-1)]
    for await (const row of fetchMetadata(await reading(), first, last)) found.set(row.uid, row)
    scanned += segment.length
    // A server may leave out what it cannot describe; whether it is gone shows when it is asked
    // for.
    rows.push(
      ...segment
        .map((uid) => found.get(uid) ?? unknownMetadata(uid))
        .filter((row) => !isThere(row)),
    )
  }

  async function ensure(reading: () => Promise<Wire>): Promise<void> {
    while (rows.length === 0 && scanned < uids.length) {
      scanning ??= scan(reading).finally(() => (scanning = undefined))
      await scanning
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
      // Read ahead, so that nobody waits for the next segment.
      if (rows.length < LIMITS.segmentMessages / 2 && scanned < uids.length) {
        scanning ??= scan(reading).finally(() => (scanning = undefined))
        scanning.catch(() => undefined)
      }
      return batch
    },
  }
}

function unknownMetadata(uid: number): Metadata {
  return { uid, flags: [], internalDate: null, size: null, messageIds: [] }
}
