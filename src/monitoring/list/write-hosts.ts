import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import { createSummarizer, type HostSummary } from '../history/summaries.ts'
import { readHosts, type ListedHostRow } from './host-list.sql.ts'

/** Hosts that are read at once: some ten milliseconds of PostgreSQL. */
const BATCH_HOSTS = 1_000

/** Batches that are read at the same time, each on a connection: PostgreSQL takes most of the time. */
const BATCHES_AHEAD = 2

const BEGIN = '{"success":true,"data":['
const END = ']}'

/**
 * Writes the response with these hosts in parts: other requests get their turn in between, and a
 * client that stops reading occupies little memory and no connection. It joins JSON texts, because
 * serializing each host takes longer than all of the rest.
 */
export async function* writeHosts(db: Kysely<DB>, ids: string[]): AsyncGenerator<string> {
  const textOf = hostWriter(new Date())
  let before = BEGIN
  for await (const rows of readBatches(db, ids)) {
    if (rows.length === 0) continue
    yield before + rows.map(textOf).join()
    before = ','
  }
  yield before === BEGIN ? BEGIN + END : END
}

/** Reads hosts in batches, and the next ones while one is used. */
async function* readBatches(db: Kysely<DB>, ids: string[]): AsyncGenerator<ListedHostRow[]> {
  const ahead: Promise<ListedHostRow[]>[] = []
  for (let at = 0; at < ids.length || ahead.length > 0; at += BATCH_HOSTS) {
    if (at < ids.length) ahead.push(readHosts(db, ids.slice(at, at + BATCH_HOSTS)))
    // Awaited later, or never when the client has left.
    ahead.at(-1)?.catch(() => {})
    if (ahead.length > BATCHES_AHEAD || at >= ids.length) yield (await ahead.shift()) ?? []
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
