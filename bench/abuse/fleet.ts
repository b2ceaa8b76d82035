// From a report to the followers of a fleet list, and CrowdSec bouncers that poll a large list.
import { hash } from 'node:crypto'
import { Agent, get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { PUBLISHED } from '../../src/abuse/export/publish.ts'
import { readEvents } from '../../src/net/http/event-stream.ts'
import { notificationArguments } from '../../src/store/notifications.ts'
import { processUsage } from '../process-usage.ts'
import { quantile } from './load.ts'
import { openBenchDatabase, startServer, stopServer } from './place.ts'

const FOLLOWERS = 500
const REPORTS = 100
const REPORT_INTERVAL_MS = 100
const LISTED = 250_000
const BOUNCERS = 1_000
const POLL_SECONDS = 10
const POLLS = 3
/** New versions of the shared list, and bouncers that start right after each. */
const VERSIONS = 5
const POLLS_OF_VERSION = 20
const TOKEN = `ar_${'b'.repeat(32)}`

/** Takes some two minutes. */
export async function run(): Promise<string> {
  await using undo = new AsyncDisposableStack()
  const { databaseUrl, pool } = await openBenchDatabase(undo)
  await seed(pool)
  const { child, url } = await startServer(databaseUrl)
  undo.defer(() => stopServer(child))
  const server = { url, cpu: () => processUsage(child.pid ?? 0).seconds }
  const lines = await measureFollowers(server)
  return [...lines, '', ...(await measureBouncers(server, pool))].join('\n')
}

async function seed(pool: Pool): Promise<void> {
  await pool.query(
    `with made as (insert into workspace (name, plan) values ('bench', 'free') returning id),
       fleet as (insert into fleet (workspace_id, serves_shared) select id, false from made)
     insert into abuse_token (workspace_id, hash, last_four, reads_fleet) select id, $1, 'bbbb', true from made`,
    [hash('sha256', TOKEN, 'buffer')],
  )
  await pool.query(`
    insert into abuse_address (address, state, score, confidence, evidence, services, networks, total_reports,
      first_reported_at, last_reported_at, published, revision)
    select ('41.' || (n >> 16) || '.' || ((n >> 8) & 255) || '.' || (n & 255))::inet, 'listed', 72, 'medium', '[]',
      '{ssh}', 2, 2, now(), now(), true, 1 from generate_series(1, ${LISTED}) n`)
  await pool.query('vacuum analyze')
}

type Server = { url: string; cpu: () => number }

async function measureFollowers({ url, cpu }: Server): Promise<string[]> {
  const sentAt = new Map<string, number>()
  const lags: number[] = []
  const stopping = new AbortController()
  const started = Array.from({ length: FOLLOWERS }, () =>
    follow(url, sentAt, lags, stopping.signal),
  )
  await Promise.all(started)
  const before = cpu()
  for (let n = 0; n < REPORTS; n++) {
    const ip = `45.9.${n}.1`
    sentAt.set(ip, performance.now())
    const answer = await fetch(`${url}/api/v1/abuse/report`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-report-token': TOKEN, 'x-forwarded-for': `91.1.${n}.9` }, // prettier-ignore
      body: JSON.stringify({ ip, service: 'ssh', count: 5 }),
    })
    if (!answer.ok) throw new Error(`the report was answered ${answer.status}`)
    await sleep(REPORT_INTERVAL_MS)
  }
  for (let n = 0; n < 100 && lags.length < FOLLOWERS * REPORTS; n++) await sleep(100)
  const used = cpu() - before
  stopping.abort()
  const at = (q: number) => quantile(lags, q).toFixed(0)
  return [
    `| ${FOLLOWERS} followers, ${REPORTS} reports, ms from sending a report to its event | p50 | p99 | received |`,
    '|---|---|---|---|',
    `| one instance, event stream | ${at(0.5)} | ${at(0.99)} | ${lags.length.toLocaleString('en')} |`,
    '',
    `Processor time of the instance per report: ${((used * 1000) / REPORTS).toFixed(1)} ms, for all followers together.`,
  ]
}

/** Resolves when the stream has sent the list; then measures until it is aborted. */
async function follow(
  url: string,
  sentAt: Map<string, number>,
  lags: number[],
  signal: AbortSignal,
) {
  const response = await fetch(`${url}/api/v1/abuse/fleet/events`, {
    headers: { 'x-api-key': TOKEN },
    signal,
  })
  const events = readEvents(response.body?.pipeThrough(new TextDecoderStream()) as never)
  await events.next()
  void (async () => {
    for await (const { data } of events) {
      const { added } = JSON.parse(data) as { added: { ip: string }[] }
      for (const { ip } of added) lags.push(performance.now() - (sentAt.get(ip) ?? NaN))
    }
  })().catch(() => {})
}

async function measureBouncers({ url, cpu }: Server, pool: Pool): Promise<string[]> {
  await pool.query('update fleet set serves_shared = true')
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const poll = (bouncer: number, startup: boolean, firstByteOnly = false) =>
    new Promise<{ firstByte: number; bytes: number }>((resolve, reject) => {
      const headers = { 'x-api-key': TOKEN, 'user-agent': `bouncer-${bouncer}`, 'x-forwarded-for': `92.1.${bouncer >> 8}.${bouncer & 255}` } // prettier-ignore
      const sent = performance.now()
      get(`${url}/v1/decisions/stream?startup=${startup}`, { agent, headers }, (response) => {
        let [bytes, firstByte] = [0, 0]
        response.on('data', (chunk: Buffer) => {
          if (bytes === 0) firstByte = performance.now() - sent
          bytes += chunk.length
          if (!firstByteOnly) return
          response.destroy()
          resolve({ firstByte, bytes })
        })
        response.on('end', () => resolve({ firstByte, bytes }))
      }).on('error', reject)
    })
  const cold = await poll(0, true)
  const warm: number[] = []
  for (let n = 0; n < 10; n++) warm.push((await poll(n, true)).firstByte)
  const renewed: number[] = []
  for (let n = 0; n < VERSIONS; n++) {
    await publishVersion(pool)
    // The first begins the encoding of the new version; the others arrive during it.
    for (let m = 0; m < POLLS_OF_VERSION; m++) {
      const { firstByte } = await poll(m, true, true)
      renewed.push(firstByte)
    }
  }
  const { rows } = await pool.query<{ version: number }>(
    'select max(version) as version from abuse_snapshot',
  )
  await pool.query(
    `insert into fleet_bouncer (token_id, address, name, cursor, shared_version, shared_at, pulled_at)
     select t.id, ('92.1.' || (n >> 8) || '.' || (n & 255))::inet, 'bouncer-' || n, f.cursor, $1, now(), now()
     from abuse_token t join fleet f on f.workspace_id = t.workspace_id, generate_series(10, ${BOUNCERS - 1}) n
     on conflict do nothing`,
    [rows[0]?.version],
  )
  const [before, began] = [cpu(), performance.now()]
  const waits: number[] = []
  for (let round = 0; round < POLLS; round++) {
    const start = performance.now()
    for (let n = 0; n < BOUNCERS; n++) {
      void poll(n, false).then(({ firstByte }) => waits.push(firstByte))
      const due = start + ((n + 1) * POLL_SECONDS * 1000) / BOUNCERS
      if (due > performance.now()) await sleep(due - performance.now())
    }
  }
  const share = (cpu() - before) / ((performance.now() - began) / 1000)
  agent.destroy()
  return [
    `| ${LISTED.toLocaleString('en')} decisions | |`,
    '|---|---|',
    `| startup, first byte, first time | ${cold.firstByte.toFixed(0)} ms |`,
    `| startup, first byte, median of 10 | ${quantile(warm, 0.5).toFixed(0)} ms |`,
    `| startup, first byte, right after a new version, median of ${renewed.length} | ${quantile(renewed, 0.5).toFixed(0)} ms |`,
    `| the slowest of these | ${Math.max(...renewed).toFixed(0)} ms |`,
    `| size | ${(cold.bytes / 1e6).toFixed(1)} MB |`,
    `| ${BOUNCERS} bouncers, each every ${POLL_SECONDS} s: share of a core, instance | ${share.toFixed(2)} |`,
    `| p99 of these answers | ${quantile(waits, 0.99).toFixed(0)} ms |`,
  ]
}

/** Adds an address to the list as a new version, and waits until instances know it. */
async function publishVersion(pool: Pool): Promise<void> {
  await pool.query(`
    with next as (select max(version) + 1 as version from abuse_snapshot),
      made as (insert into abuse_snapshot select version, ${LISTED}, now(), now() from next returning version)
    insert into abuse_snapshot_change select version, ('41.200.1.' || version % 250)::inet, true from made`)
  await pool.query('select pg_notify($1, $2)', notificationArguments(PUBLISHED, null))
  await sleep(100)
}

if (import.meta.main) console.log(await run())
