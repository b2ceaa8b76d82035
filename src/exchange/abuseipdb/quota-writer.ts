import type { Logger } from '../../log.ts'
import type { Db } from '../../store/database.ts'
import type { Counter } from './quota-counter.ts'
import { addToQuotas } from './abuseipdb-quotas.sql.ts'

export type QuotaWriterDeps = { db: Db; log: Logger }

/** Stores requests of many counters together. */
export type QuotaWriter = {
  /** Counts a request and stores it. @returns its number on this day, over all instances */
  addNow(counter: Counter): Promise<number>
  /** Counts a request, which is stored within a second. @returns its number, as given */
  addLater(counter: Counter, position: number): number
  close(): Promise<void>
}

const INTERVAL_MS = 1_000

/** Requests of counters, which are written in one statement. */
type Batch = Map<Counter, number>

export function createQuotaWriter({ db, log }: QuotaWriterDeps): QuotaWriter {
  let batch: Batch = new Map()
  let running: Promise<unknown> = Promise.resolve()
  let next: Promise<Map<Counter, number>> | undefined
  let timer: NodeJS.Timeout | undefined

  /** Writes the batch after the one that is being written. @returns the counts before it */
  function write(): Promise<Map<Counter, number>> {
    clearTimeout(timer)
    timer = undefined
    next ??= running.then(writeBatch)
    running = next.catch(() => {})
    return next
  }

  async function writeBatch(): Promise<Map<Counter, number>> {
    const written = batch
    batch = new Map()
    next = undefined
    if (written.size === 0) return new Map()
    try {
      const totals = await addToQuotas(db, [...written])
      const before = new Map<Counter, number>()
      for (const [counter, requests] of written) {
        // A revoked token has no row any more.
        const stored = totals.get(counter) ?? (counter.stored ?? 0) + requests
        before.set(counter, stored - requests)
        counter.stored = stored
        counter.unwritten -= requests
      }
      return before
    } catch (error) {
      for (const [counter, requests] of written)
        batch.set(counter, (batch.get(counter) ?? 0) + requests)
      throw error
    }
  }

  function add(counter: Counter): number {
    const place = (batch.get(counter) ?? 0) + 1
    batch.set(counter, place)
    counter.unwritten += 1
    return place
  }

  function writeLater(): void {
    timer = undefined
    write().catch((err: unknown) => {
      log.warn({ err }, 'requests to AbuseIPDB’s API could not be counted; retrying')
      timer ??= setTimeout(writeLater, INTERVAL_MS)
    })
  }

  return {
    async addNow(counter) {
      const place = add(counter)
      const before = await write()
      return (before.get(counter) ?? 0) + place
    },
    addLater(counter, position) {
      add(counter)
      timer ??= setTimeout(writeLater, INTERVAL_MS)
      return position
    },
    async close() {
      clearTimeout(timer)
      await write().catch((err: unknown) => log.warn({ err }, 'requests were not counted'))
    },
  }
}
