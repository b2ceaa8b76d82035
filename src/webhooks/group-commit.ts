import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from '../log.ts'
import { BATCH_BYTES, BATCH_ROWS, QUEUE_ROWS } from './limits.ts'

/** Stored for good; its endpoint was deleted meanwhile; not known to be stored; or not taken, because too many wait. */
export type Outcome = 'stored' | 'gone' | 'failed' | 'full'

type Row = { endpointId: string; body: Buffer }
type Waiting<R> = { row: R; settle: (outcome: Outcome) => void }

/** Commits at once: while the database has the one, its disk has the other. */
const AT_ONCE = 2

/** Of all rows, what goes into one commit: while two are under way, the last fifth is answered and sends again. */
const SHARE = 0.4

/** Rows that are not worth being shared out among two commits. */
const FEW = 16

/** Turns of the event loop for which a commit waits at most; some tenths of a millisecond. */
const TURNS = 8

export type GroupCommit<R> = { add(row: R): Promise<Outcome> }

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
  let waiting: Waiting<R>[] = []
  let isGathering = false
  let commits = 0
  let rowsUnderWay = 0
  /** Rows of the commit before. */
  let last = 0

  /** Begins a commit, if there is one to begin. */
  async function depart(): Promise<void> {
    if (isGathering || commits === AT_ONCE) return
    isGathering = true
    await gather()
    isGathering = false
    // Beside another only one of a size: two large ones cost less than one and many small ones.
    if (waiting.length === 0 || waiting.length < Math.min(last, rowsUnderWay) / 2) return
    last = Math.min(countOfNext(waiting), shareOfAll())
    const batch = waiting.slice(0, last)
    waiting = waiting.slice(last)
    commits++
    rowsUnderWay += batch.length
    const committed = commit(batch)
    void depart()
    const answer = await committed
    commits--
    rowsUnderWay -= batch.length
    // The next is on its way to the database before these are answered.
    void depart()
    answer()
  }

  /** What lies in our sockets already is read first, turn by turn of the event loop, while there is more of it. */
  async function gather(): Promise<void> {
    for (let turn = 0, before = 0; turn < TURNS && waiting.length > before && waiting.length < last; turn++) {
      before = waiting.length
      await nextTurn()
    }
  }

  function shareOfAll(): number {
    return Math.max(FEW, Math.ceil((waiting.length + rowsUnderWay) * SHARE))
  }

  /** @returns what answers them */
  async function commit(batch: Waiting<R>[]): Promise<() => void> {
    const rows = batch.map(({ row }) => row)
    try {
      const alive = await insert(rows)
      return () => {
        for (const { row, settle } of batch) settle(alive.has(row.endpointId) ? 'stored' : 'gone')
        onStored(alive)
      }
    } catch (error) {
      log.error({ err: error, rows: rows.length }, 'captured requests were not stored')
      return () => {
        for (const { settle } of batch) settle('failed')
      }
    }
  }

  return {
    add(row) {
      if (waiting.length >= QUEUE_ROWS) return Promise.resolve('full')
      return new Promise((settle) => {
        waiting.push({ row, settle })
        void depart()
      })
    },
  }
}

function countOfNext(waiting: Waiting<Row>[]): number {
  let count = 0
  for (let bytes = 0; count < waiting.length && count < BATCH_ROWS; count++) {
    bytes += waiting[count]?.row.body.length ?? 0
    if (bytes > BATCH_BYTES && count > 0) break
  }
  return count
}
