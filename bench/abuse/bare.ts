import type { Pool } from 'pg'
import type { Load } from './load.ts'

/** The baseline: node-postgres with one prepared statement and one commit per report. */
export type Bare = { name: string; text: string; valuesOf: (n: number) => unknown[] }

/** Inserts only the row of the report. */
export function singleRow(addressOf: (n: number) => string): Bare {
  return {
    name: 'single-row',
    text: `insert into abuse_report (at, address, service, port, count, network, origin, strong, counted, early)
      values (now(), $1, $2, 22, 3, $3, $4, false, true, true)`,
    valuesOf: (n) => [addressOf(n), 'ssh', `network${n % 5_000}`, `origin${n % 400}`],
  }
}

/**
 * Writes every row that a report changes: the report, its address, the usage of its source, and the
 * hourly count. What the service reads and computes to know these values is left out. Slots keep
 * concurrent counters from waiting for each other.
 */
export function sameRows(addressOf: (n: number) => string): Bare {
  return {
    name: 'same-rows',
    text: `with reported as (
        insert into abuse_report (at, address, service, port, count, network, origin, strong, counted, early)
        values (now(), $1, $2, 22, 3, $3, $4, false, true, true)
      ), counted as (
        insert into abuse_count as kept (hour, service, lane, reports)
        values (date_trunc('hour', now(), 'UTC'), $2, $5, 1)
        on conflict (hour, service, lane) do update set reports = kept.reports + 1
      ), rated as (
        insert into abuse_rate as kept (source, started_at, used) values ($6, now(), 1)
        on conflict (source) do update set used = kept.used + 1
      )
      insert into abuse_address as known (address, state, score, confidence, evidence, services, networks, total_reports,
        first_reported_at, last_reported_at, revision)
      values ($1, 'observed', 21.2, 'low', $7, array[$2], 1, 1, now(), now(), 1)
      on conflict (address) do update set evidence = excluded.evidence, total_reports = known.total_reports + 1,
        last_reported_at = now(), revision = known.revision + 1`,
    valuesOf: (n) => [
      addressOf(n),
      'ssh',
      `network${n % 5_000}`,
      `origin${n % 400}`,
      n % 64,
      `source${n % 15_000}`,
      EVIDENCE,
    ],
  }
}

const SEEN = [
  'network12345',
  'origin123456',
  'ssh',
  'new',
  0,
  20,
  1_795_000_000_000,
  1_795_000_000_000,
  0,
  1,
  20,
  22,
]
const EVIDENCE = JSON.stringify([SEEN, SEEN])

/** @param atOnce concurrent loops; each inserts the next report after its last commit */
export async function insertBare(
  pool: Pool,
  { name, text, valuesOf }: Bare,
  inserts: number,
  atOnce = 64,
): Promise<Load> {
  const result: Load = { seconds: 0, times: [], statuses: new Map(), bodies: [] }
  let next = 0
  const started = performance.now()
  async function work(): Promise<void> {
    while (next < inserts) {
      const sent = performance.now()
      await pool.query({ name, text, values: valuesOf(next++) })
      result.times.push(performance.now() - sent)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  result.seconds = (performance.now() - started) / 1000
  return result
}
