import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from '../../log.ts'
import { MAX_BATCH_BYTES, MAX_BATCH_ROWS, MAX_QUEUED_ROWS } from '../limits.ts'

/** Stored for good; its endpoint was deleted meanwhile; not known to be stored; or not taken, because too many wait. */
export type StoreOutcome = 'stored' | 'gone' | 'failed' | 'full'

type Row = { endpointId: string; body: Buffer }
type QueuedRow<R> = { row: R; resolve: (outcome: StoreOutcome) => void }

/** Commits at once: while the database has the one, its disk has the other. */
const MAX_CONCURRENT_COMMITS = 2

/** Of all rows, what goes into one commit: while two are under way, the last fifth is answered and sends again. */
const BATCH_SHARE = 0.4

/** Rows that are not worth being shared out among two commits. */
const MIN_BATCH_ROWS = 16

/** Turns of the event loop for which a commit waits at most; some tenths of a millisecond. */
const MAX_GATHER_TURNS = 8

export type GroupCommit<R> = { add(row: R): Promise<StoreOutcome> }

type Options<R> = {
  /** Stores all of them or none. @returns the endpoints that still exist, with their accounts */
  insert: (rows: R[]) => Promise<Map<string, string>>
  onStored: (endpoints: Map<string, string>) => void
  log: Logger
}

/**
 * Commits rows together: what comes while commits are under way shares the next. There is no timer, so a lone row waits for
 * nothing, and a crowd shares the flushes of the disk.
 */
export function createGroupCommit<R extends Row>({ insert, onStored, log }: Options<R>): GroupCommit<R> {
  let waiting: QueuedRow<R>[] = []
  let isGathering = false
  let commits = 0
  let rowsInCommits = 0
  /** Rows of the commit before. */
  let lastBatchRows = 0

  /** Begins a commit, if there is one to begin. */
  async function startCommit(): Promise<void> {
    if (isGathering || commits === MAX_CONCURRENT_COMMITS) return
    isGathering = true
    await gather()
    isGathering = false
    // Beside another only one of a size: two large ones cost less than one and many small ones.
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
    // The next is on its way to the database before these are answered.
    void startCommit()
    answer()
  }

  /** What lies in our sockets already is read first, turn by turn of the event loop, while there is more of it. */
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

  /** @returns what answers them */
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
