// Public feeds of 250,000 entries for CrowdSec bouncers: the first byte, the size, and memory.
import { hash } from 'node:crypto'
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { encodeNetworkSet } from '../../src/protocols/networks/encode-set.ts'
import { createNetworkSet } from '../../src/protocols/networks/network-set.ts'
import { FEEDS_CHANGED } from '../../src/public-feeds/update-feed.ts'
import { notificationArguments } from '../../src/store/notifications.ts'
import { memoryMb } from '../process-usage.ts'
import { quantile } from './load.ts'
import { openBenchDatabase, startServer, stopServer } from './place.ts'

const ENTRIES = 250_000
/** Entries that a new version has instead of others. */
const CHANGED = 5_000
const STARTUPS = 10
const KEY = `bk_${'f'.repeat(32)}`

/** Takes half a minute. */
export async function run(): Promise<string> {
  await using undo = new AsyncDisposableStack()
  const { databaseUrl, pool } = await openBenchDatabase(undo)
  await seed(pool)
  const { child, url } = await startServer(databaseUrl)
  undo.defer(() => stopServer(child))
  const memory = () => memoryMb(child.pid ?? 0, 'VmRSS')
  // The first request of a process is slow whatever it asks for.
  await poll(url, 0, true)
  const before = memory()
  await saveFeed(pool, 0)
  await sleep(1_000)
  const loaded = memory()
  const cold = await poll(url, 0, true)
  const warm: number[] = []
  for (let n = 0; n < STARTUPS; n++) warm.push((await poll(url, n, true)).firstByte)
  const streamed = memory()
  const began = performance.now()
  await poll(url, 1, true)
  const whole = performance.now() - began
  await saveFeed(pool, CHANGED)
  await sleep(1_000)
  const changed = await poll(url, 1, false)
  const again = await poll(url, 2, false)
  const ms = (value: number) => `${value.toFixed(0)} ms`
  return [
    `| a public feed of ${ENTRIES.toLocaleString('en')} entries | |`,
    '|---|---|',
    `| startup, first byte, first time | ${ms(cold.firstByte)} |`,
    `| startup, first byte, median of ${STARTUPS} | ${ms(quantile(warm, 0.5))} |`,
    `| startup, all of it | ${ms(whole)} |`,
    `| size | ${(cold.bytes / 1e6).toFixed(1)} MB |`,
    `| ${CHANGED.toLocaleString('en')} entries replaced: first bouncer | ${ms(changed.whole)}, ${(changed.bytes / 1e6).toFixed(1)} MB |`,
    `| … next bouncer | ${ms(again.whole)} |`,
    `| memory of the instance: before, with the feed, after ${STARTUPS} startups, at the end | ${[before, loaded, streamed, memory()].join(', ')} MB |`,
  ].join('\n')
}

async function seed(pool: Pool): Promise<void> {
  await pool.query(
    `with made as (insert into workspace (name, plan) values ('bench', 'free') returning id),
       fleet as (insert into fleet (workspace_id, feeds) select id, '{blocklist-de}' from made)
     insert into abuse_token (workspace_id, hash, last_four, reads_fleet) select id, $1, 'ffff', true from made`,
    [hash('sha256', KEY, 'buffer')],
  )
}

/** Puts a version in use, as an update does, with networks of different lengths. */
async function saveFeed(pool: Pool, skipped: number): Promise<void> {
  const networks = Array.from({ length: ENTRIES }, (_, n) => {
    const start = BigInt((41 << 24) + (n + skipped) * 4)
    return { family: 4 as const, start, bits: n % 10 === 0 ? 31 : 32, since: 1 }
  })
  const encoded = encodeNetworkSet(createNetworkSet(networks))
  await pool.query(`insert into public_feed_version (feed_id, hash, networks, replaced_at)
    select id, hash, networks, now() from public_feed where networks is not null`)
  await pool.query(
    `insert into public_feed (id, enabled, networks, network_count, hash, changed_at) values ('blocklist-de', true, $1, $2, $3, now())
     on conflict (id) do update set networks = excluded.networks, hash = excluded.hash`,
    [encoded, ENTRIES, hash('sha256', encoded, 'buffer')],
  )
  await pool.query('select pg_notify($1, $2)', notificationArguments(FEEDS_CHANGED, 'blocklist-de'))
}

function poll(url: string, bouncer: number, startup: boolean) {
  return new Promise<{ firstByte: number; whole: number; bytes: number }>((resolve, reject) => {
    const headers = { 'x-api-key': KEY, 'user-agent': `bouncer-${bouncer}` }
    const sent = performance.now()
    const took = () => performance.now() - sent
    get(
      `${url}/v1/decisions/stream?startup=${startup}&scopes=ip,range`,
      { headers },
      (response) => {
        let [bytes, firstByte] = [0, 0]
        response.on('data', (chunk: Buffer) => {
          firstByte ||= took()
          bytes += chunk.length
        })
        response.on('end', () => resolve({ firstByte, whole: took(), bytes }))
      },
    ).on('error', reject)
  })
}

if (import.meta.main) console.log(await run())
