import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from '../../log.ts'
import { MAX_BATCH_BYTES, MAX_BATCH_ROWS, MAX_QUEUED_ROWS } from '../limits.ts'

/**
 * The result for one row: stored durably; its endpoint was deleted meanwhile; not known to be
 * stored; or rejected because the queue is full.
 */
export type StoreOutcome = 'stored' | 'gone' | 'failed' | 'full'

type Row = { endpointId: string; body: Buffer }
type QueuedRow<R> = { row: R; resolve: (outcome: StoreOutcome) => void }

/** Commits at once: one is processed by the database while the disk flushes the other. */
const MAX_CONCURRENT_COMMITS = 2

/**
 * Share of all rows that goes into one commit. While two commits run, the remaining fifth of the
 * senders get their response and send again.
 */
const BATCH_SHARE = 0.4

/** Rows below which a split over two commits costs more than it saves. */
const MIN_BATCH_ROWS = 16

/** Turns of the event loop that a commit waits at most: some tenths of a millisecond. */
const MAX_GATHER_TURNS = 8

export type GroupCommit<R> = { add(row: R): Promise<StoreOutcome> }

type Options<R> = {
  /** Stores all rows or none. @returns the endpoints that still exist, with their workspaces */
  insert: (rows: R[]) => Promise<Map<string, string>>
  onStored: (endpoints: Map<string, string>) => void
  log: Logger
}

/**
 * Commits rows together: rows that arrive while commits run share the next one. There is no timer,
 * so a single row never waits, and many rows share the flushes of the disk.
 */
export function createGroupCommit<R extends Row>({
  insert,
  onStored,
  log,
}: Options<R>): GroupCommit<R> {
  let waiting: QueuedRow<R>[] = []
  let isGathering = false
  let commits = 0
  let rowsInCommits = 0
  /** Rows of the previous commit. */
  let lastBatchRows = 0

  /** Starts a commit if there are rows and a free slot. */
  async function startCommit(): Promise<void> {
    if (isGathering || commits === MAX_CONCURRENT_COMMITS) return
    isGathering = true
    await gather()
    isGathering = false
    // A second commit needs a similar size: two large ones cost less than one large and many small
    // ones.
    if (waiting.length === 0 || waiting.length < Math.min(lastBatchRows, rowsInCommits) / 2) return
    lastBatchRows = Math.min(countNextBatch(waiting), countBatchShare())
    const batch = waiting.slice(0, lastBatchRows)
    waiting = waiting.slice(lastBatchRows)
    commits++
    rowsInCommits += batch.length
    const committed = commit(batch)
    void startCommit()
    const answer = await committed
    commits--
    rowsInCommits -= batch.length
    // The next commit is on its way to the database before the senders of this one are answered.
    void startCommit()
    answer()
  }

  /**
   * Reads data that already waits in the sockets first, as long as each turn of the event loop
   * brings more rows.
   */
  async function gather(): Promise<void> {
    for (
      let turn = 0, before = 0;
      turn < MAX_GATHER_TURNS && waiting.length > before && waiting.length < lastBatchRows;
      turn++
    ) {
      before = waiting.length
      await nextTurn()
    }
  }

  function countBatchShare(): number {
    return Math.max(MIN_BATCH_ROWS, Math.ceil((waiting.length + rowsInCommits) * BATCH_SHARE))
  }

  /** Commits a batch. @returns a function that reports the result to its senders */
  async function commit(batch: QueuedRow<R>[]): Promise<() => void> {
    const rows = batch.map(({ row }) => row)
    try {
      const alive = await insert(rows)
      return () => {
        for (const { row, resolve } of batch) resolve(alive.has(row.endpointId) ? 'stored' : 'gone')
        onStored(alive)
      }
    } catch (error) {
      log.error({ err: error, rows: rows.length }, 'captured requests were not stored')
      return () => {
        for (const { resolve } of batch) resolve('failed')
      }
    }
  }

  return {
    add(row) {
      if (waiting.length >= MAX_QUEUED_ROWS) return Promise.resolve('full')
      return new Promise((resolve) => {
        waiting.push({ row, resolve })
        void startCommit()
      })
    },
  }
}

function countNextBatch(waiting: QueuedRow<Row>[]): number {
  let count = 0
  for (let bytes = 0; count < waiting.length && count < MAX_BATCH_ROWS; count++) {
    bytes += waiting[count]?.row.body.length ?? 0
    if (bytes > MAX_BATCH_BYTES && count > 0) break
  }
  return count
}
