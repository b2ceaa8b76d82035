import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import { availableSince } from '../history/availability.ts'
import { createSummarizer, type HostSummary } from '../history/summaries.ts'
import { readHosts, type ListedHostRow } from './store.ts'

/**
 * Hosts that are read at once. PostgreSQL would compile a statement for many more, which takes
 * longer than to run it (`jit_above_cost`).
 */
const BATCH_HOSTS = 1_000

const BEGIN = '{"success":true,"data":['
const END = ']}'

/**
 * Writes the response with these hosts in parts: other requests get their turn in between, and a
 * client that stops reading occupies little memory and no connection. It joins JSON texts, because
 * serializing each host takes longer than all of the rest.
 */
export async function* writeHosts(db: Kysely<DB>, ids: string[]): AsyncGenerator<string> {
  const now = new Date()
  const textOf = hostWriter(now)
  let before = BEGIN
  for await (const rows of readBatches(db, ids, availableSince(now))) {
    if (rows.length === 0) continue
    yield before + rows.map(textOf).join()
    before = ','
  }
  yield before === BEGIN ? BEGIN + END : END
}

/** Reads hosts in batches, each while the one before is used. */
async function* readBatches(
  db: Kysely<DB>,
  ids: string[],
  since: Date,
): AsyncGenerator<ListedHostRow[]> {
  const read = (at: number) => readHosts(db, ids.slice(at, at + BATCH_HOSTS), since)
  let next = ids.length > 0 ? read(0) : undefined
  for (let at = BATCH_HOSTS; next; at += BATCH_HOSTS) {
    const rows: ListedHostRow[] = await next
    next = at < ids.length ? read(at) : undefined
    // Awaited later, or never when the client has left.
    next?.catch(() => {})
    yield rows
  }
}

function hostWriter(now: Date): (row: ListedHostRow) => string {
  const summaryOf = createSummarizer(now)
  const texts = new Map<HostSummary, string>()
  return (row) => {
    const summary = summaryOf(row)
    const text = texts.get(summary) ?? JSON.stringify(summary).slice(1)
    texts.set(summary, text)
    return `${row.json.slice(0, -1)},${text}`
  }
}
