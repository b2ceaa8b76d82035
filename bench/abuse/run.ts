// Reports, checks and exports over HTTP, with a million known addresses; reports beside single-row
// inserts by bare pg.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { insertBare, sameRows, singleRow } from './bare.ts'
import { load, quantile, type Load } from './load.ts'
import { openBenchDatabase, startServer, stopServer } from './place.ts'
import { KNOWN, knownAddress, LISTED, RANGES, seed } from './seed.ts'

const CONNECTIONS = 64
const ROUNDS = 3
/** Reports in one round. */
const REPORTS = 40_000
/** Reports before measuring, until the JIT compiler has finished. */
const WARM_UP = 40_000
/** Reporting addresses: enough that none reaches its rate limit. */
const SOURCES = 15_000
/** Addresses that most reports are about. */
const ACTIVE = 20_000
const CHECKS = 80_000

/** Takes some three minutes. */
export async function run(): Promise<string> {
  await using undo = new AsyncDisposableStack()
  const { databaseUrl, pool } = await openBenchDatabase(undo)
  await seed(pool)
  const server = await startServer(databaseUrl)
  undo.defer(() => stopServer(server.child))

  const lines: string[] = []
  const print = (line: string) => void lines.push(line)
  const known = `${KNOWN.toLocaleString('en')} addresses, ${LISTED.toLocaleString('en')} listed`
  print(
    `| ${known}, ${RANGES.toLocaleString('en')} whitelist ranges | a second | p50 ms | p99 ms |`,
  )
  print('|---|---|---|---|')
  await warmUp(pool, server.url)
  const rounds: Load[][] = []
  for (let round = 0; round < ROUNDS; round++)
    rounds.push(await oneRound(pool, server.url, WARM_UP + round * REPORTS))
  REPORTED.forEach((what, index) =>
    print(row(what, medianOf(rounds.map((round) => round[index] as Load)))),
  )
  const checks = await load(server.url, {
    connections: CONNECTIONS,
    requests: CHECKS,
    requestOf: checkOf,
  })
  print(row(`GET check over HTTP, ${CONNECTIONS} connections`, checks))
  await measureExport(databaseUrl, pool, server.url, print)
  return lines.join('\n')
}

/** Measures the time from a changed list to its files, and what downloads wait for. */
async function measureExport(
  databaseUrl: string,
  pool: Pool,
  url: string,
  print: (line: string) => void,
) {
  const began = performance.now()
  const keeper = await startServer(databaseUrl, 'work')
  for (;;) {
    const { rows } = await pool.query(
      'select from abuse_snapshot where version = 1 and ready_at is not null',
    )
    if (rows.length > 0) break
    await sleep(50)
  }
  print(
    `\nAll formats of ${LISTED.toLocaleString('en')} addresses written ${((performance.now() - began) / 1000).toFixed(1)} s after the start of a keeper.\n`,
  )
  await stopServer(keeper.child)
  print('| export over HTTP, one after the other | p50 ms | p99 ms |\n|---|---|---|')
  for (const format of ['plain', 'json', 'nftables'])
    print(
      timesOf(
        `first byte, ${format}, gzip`,
        await firstBytes(`${url}/api/v1/abuse/export?format=${format}`),
      ),
    )
  print(timesOf('304', await firstBytes(`${url}/api/v1/abuse/export`, true)))
}

async function firstBytes(url: string, unchanged = false): Promise<number[]> {
  const etag = (await fetch(url)).headers.get('etag') ?? ''
  const waits: number[] = []
  for (let n = 0; n < 200; n++) {
    const sent = performance.now()
    const answer = await fetch(url, { headers: unchanged ? { 'if-none-match': etag } : {} })
    const reader = answer.body?.getReader()
    await reader?.read()
    waits.push(performance.now() - sent)
    if (answer.status !== (unchanged ? 304 : 200))
      throw new Error(`${url} answered ${answer.status}`)
    if (reader) await drain(reader)
  }
  return waits
}

async function drain(reader: ReadableStreamDefaultReader): Promise<void> {
  while (!(await reader.read()).done);
}

const timesOf = (what: string, waits: number[]) =>
  `| ${what} | ${[0.5, 0.99].map((q) => quantile(waits, q).toFixed(1)).join(' | ')} |`

async function warmUp(pool: Pool, url: string): Promise<void> {
  await insertBare(pool, singleRow(addressOf), WARM_UP / 4)
  await insertBare(pool, sameRows(addressOf), WARM_UP / 4)
  await load(url, { connections: CONNECTIONS, requests: WARM_UP, requestOf: reportOf })
  await load(url, { connections: CONNECTIONS, requests: 5_000, requestOf: checkOf })
}

const AT_ONCE = `${CONNECTIONS} at once, 15 connections`
const REPORTED = [
  'bare pg, one row and one commit a report, one at a time',
  `bare pg, one row and one commit a report, ${AT_ONCE}`,
  `bare pg, the same rows and one commit a report, ${AT_ONCE}`,
  `POST report over HTTP, ${CONNECTIONS} connections`,
]

/** Sends the same reports in each way, one after the other. */
async function oneRound(pool: Pool, url: string, from: number): Promise<Load[]> {
  const address = (n: number) => addressOf(from + n)
  return [
    await insertBare(pool, singleRow(address), REPORTS / 4, 1),
    await insertBare(pool, singleRow(address), REPORTS),
    await insertBare(pool, sameRows(address), REPORTS),
    await load(url, {
      connections: CONNECTIONS,
      requests: REPORTS,
      requestOf: (n) => reportOf(from + n),
    }),
  ]
}

function medianOf(loads: Load[]): Load {
  return loads.toSorted((a, b) => a.seconds - b.seconds)[Math.floor(loads.length / 2)] as Load
}

/**
 * Distributed like attacks: most reports are about few addresses that many see, some about other
 * known ones, some about new ones.
 */
function addressOf(n: number): string {
  const kind = n % 10
  if (kind < 6) return knownAddress((n * 7_907) % ACTIVE)
  if (kind < 8) return knownAddress((n * 7_907) % KNOWN)
  return `${150 + (n % 20)}.${(n >> 12) & 255}.${(n >> 4) & 255}.${n & 255}`
}

export function reportOf(n: number): string {
  const sender = n % SOURCES
  return reportRequest(
    n,
    `${90 + (sender >> 11)}.${(sender >> 3) & 255}.${sender % 8}.${sender % 251}`,
  )
}

/** The n-th report, each from a different source. */
export function reportRequest(n: number, source: string): string {
  const service = ['ssh', 'imap', 'http', 'sip'][n % 4]
  const body = JSON.stringify({ ip: addressOf(n), service, port: 22, count: (n % 9) + 1 })
  return `POST /api/v1/abuse/report HTTP/1.1\r\nhost: bench\r\nx-forwarded-for: ${source}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

function checkOf(n: number): string {
  const ip = n % 4 ? knownAddress(n * 31) : `200.${(n >> 12) & 255}.${(n >> 4) & 255}.${n & 255}`
  return `GET /api/v1/abuse/check?ip=${ip} HTTP/1.1\r\nhost: bench\r\n\r\n`
}

function row(what: string, { seconds, times, statuses }: Load): string {
  const refused = [...statuses].filter(([status]) => status !== 200)
  if (refused.length > 0) throw new Error(`${what}: ${JSON.stringify(refused)}`)
  const [p50, p99] = [0.5, 0.99].map((q) => quantile(times, q).toFixed(1))
  return `| ${what} | ${Math.round(times.length / seconds).toLocaleString('en')} | ${p50} | ${p99} |`
}

if (import.meta.main) console.log(await run())
