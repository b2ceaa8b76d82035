import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from '../log.ts'
import { BATCH_BYTES, BATCH_ROWS, QUEUE_ROWS } from './limits.ts'

/** Stored for good; its endpoint was deleted meanwhile; not known to be stored; or not taken, because too many wait. */
export type Outcome = 'stored' | 'gone' | 'failed' | 'full'

type Row = { endpointId: string; body: Buffer }
type Waiting<R> = { row: R; settle: (outcome: Outcome) => void }

/** Turns of the event loop for which a commit waits at most; some tenths of a millisecond. */
const TURNS = 8

export type GroupCommit<R> = { add(row: R): Promise<Outcome> }

type Options<R> = {
  /** Stores all of them or none. @returns the endpoints that still exist */
  insert: (rows: R[]) => Promise<Set<string>>
  onStored: (rows: R[]) => void
  log: Logger
}

/**
 * Commits rows together: what comes while one commit is under way is the next. There is no timer, so a lone row waits for
 * nothing, and a crowd shares one flush of the disk.
 */
export function createGroupCommit<R extends Row>({ insert, onStored, log }: Options<R>): GroupCommit<R> {
  let waiting: Waiting<R>[] = []
  let isCommitting = false
  /** Rows of the commit before. */
  let last = 0

  async function commitAll(): Promise<void> {
    isCommitting = true
    while (waiting.length > 0) await commitWhileTheyCome()
    isCommitting = false
  }

  /** Commit after commit, as long as there is enough for the next when one ends: then the senders of the one are answered during the next. */
  async function commitWhileTheyCome(): Promise<void> {
    let answer = () => {}
    do {
      await halfOfThem()
      last = countOfNext(waiting)
      const batch = waiting.slice(0, last)
      waiting = waiting.slice(last)
      const committed = commit(batch)
      // Now it is on its way to the database, which works while those before are answered.
      await nextTurn()
      answer()
      answer = await committed
    } while (waiting.length > 0 && waiting.length >= last / 2)
    answer()
  }

  /**
   * What lies in our sockets already is read first, turn by turn of the event loop, while there is more of it: but only up to
   * half of the last commit, so that under load one half of the senders is read and answered while the other is committed.
   */
  async function halfOfThem(): Promise<void> {
    for (let turn = 0, before = 0; turn < TURNS && waiting.length > before && waiting.length < last / 2; turn++) {
      before = waiting.length
      await nextTurn()
    }
  }

  /** @returns what answers them */
  async function commit(batch: Waiting<R>[]): Promise<() => void> {
    const rows = batch.map(({ row }) => row)
    try {
      const alive = await insert(rows)
      return () => {
        for (const { row, settle } of batch) settle(alive.has(row.endpointId) ? 'stored' : 'gone')
        onStored(rows)
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
        if (!isCommitting) void commitAll()
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
