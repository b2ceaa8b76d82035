import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { captureOf, reportOf, startSender } from '../deploy/load.ts'
import { aggregate, mailWith } from '../dmarc/reports.ts'
import { freePort } from '../free-port.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { figure } from './figures.ts'
import { inspect, type Inspector } from './inspector.ts'
import { endOf, startMoving } from './moving.ts'
import { makeEndpoints, startPlace, type Place } from './place.ts'
import { residentMb } from './watch.ts'

const WARM_UP = 75
const SECONDS = 225
const EVERY = 15
const SOURCES = Array.from({ length: 250 }, (_, n) => `127.1.${n}.1`)
/** Attackers that are reported repeatedly; their stored data must not grow. */
const ATTACKERS = 20_000

let place: Place
let dns: DnsServer
let inspector: Inspector
let moving: Awaited<ReturnType<typeof startMoving>>
let [smtpPort, inspectPort] = [0, 0]

beforeAll(async () => {
  ;[smtpPort, inspectPort] = [await freePort(), await freePort()]
  dns = await startDns({
    records: { 'example.test A': ['192.0.2.1'], 'example.test TXT': ['v=spf1 -all'] },
  })
  ;[place, moving] = await Promise.all([
    startPlace({
      DNS_SERVERS: `127.0.0.1:${dns.port}`,
      SMTP_LISTEN: `127.0.0.1:${smtpPort}`,
      REPORT_DOMAIN: 'reports.portreeve.test',
      NODE_OPTIONS: `--inspect=127.0.0.1:${inspectPort}`,
    }),
    startMoving(200, 5),
  ])
  inspector = await inspect(inspectPort)
})
afterAll(async () => {
  inspector.close()
  await Promise.all([place.stop(), moving.stop()])
  await dns.close()
})

/**
 * Megabytes: of the service's heap after a collection, of the service whole, and of PostgreSQL's
 * processes each for itself.
 */
type Sample = { heap: number; service: number; database: number }

describe('hours of use in some minutes', () => {
  it('do not increase memory', async () => {
    const work = await startWork()
    await sleep(WARM_UP * 1_000)
    const samples: Sample[] = []
    for (let second = 0; second < SECONDS; second += EVERY) {
      await sleep(EVERY * 1_000)
      const heap = await inspector.heapMb()
      samples.push({
        heap,
        service: residentMb(place.instance.child.pid),
        database: privateMb(place),
      })
    }
    const done = await work.stop()
    const third = Math.ceil(samples.length / 3)
    const mean = (part: Sample[], of: keyof Sample) =>
      part.reduce((sum, sample) => sum + sample[of], 0) / part.length
    const [early, late] = [samples.slice(0, third), samples.slice(-third)]
    const change = (of: keyof Sample) =>
      `${mean(early, of).toFixed(0)} → ${mean(late, of).toFixed(0)} MB`
    figure(
      `hours of use in ${(WARM_UP + SECONDS) / 60} minutes: ${done}`,
      `after ${WARM_UP} s of warming up, the first and the last third of the time: heap ${change('heap')}, ` +
        `service ${change('service')}, PostgreSQL’s own memory ${change('database')}`,
    )
    console.log(samples.map((sample) => Object.values(sample).map(Math.round).join(' ')).join('\n'))
    expect(mean(late, 'heap')).toBeLessThan(mean(early, 'heap') * 1.1 + 5)
    expect(mean(late, 'service')).toBeLessThan(mean(early, 'service') * 1.15 + 15)
    expect(mean(late, 'database')).toBeLessThan(mean(early, 'database') * 1.15 + 15)
  })
})

/** The load of all five jobs, and of people who read. */
async function startWork() {
  const tokens = await makeEndpoints(place, 20)
  const answer = await place.api('/api/v1/dmarc/domains', 'POST', { domain: 'example.test' })
  const { reportEmail } = ((await answer.json()) as { data: { reportEmail: string } }).data
  const transport = createTransport({
    host: '127.0.0.1',
    port: smtpPort,
    pool: true,
    maxConnections: 2,
    secure: false,
  })
  const report = reportOf(100)
  const senders = [
    startSender(place.url, captureOf(tokens), { connections: 4 }),
    startSender(place.url, (n) => ({ ...report(n % ATTACKERS), key: String(n % ATTACKERS) }), {
      from: SOURCES,
      connections: 3,
    }),
  ]
  const workers = {
    'DMARC reports by mail': repeat(150, async () => {
      const raw = mailWith({ attachment: aggregate({ rows: [{ count: 1 }] }) })
      await transport.sendMail({ envelope: { from: 'a@receiver.test', to: reportEmail }, raw })
    }),
    'blacklist checks of all lists': repeat(500, async (n) => {
      const ip = `192.0.${n >> 8}.${n & 255}`
      await (await place.api(`/api/v1/blacklist-check?ip=${ip}`)).arrayBuffer()
    }),
    'other checks': repeat(100, async (n) => {
      const path = ['dns-check', 'dmarc-check'][n % 2]
      await (await place.api(`/api/v1/${path}?domain=example.test`)).arrayBuffer()
    }),
    'migrations of 200 mails': repeat(0, async () => {
      expect((await endOf(place, await moving.begin(place))).status).toBe('completed')
    }),
    'requests of people': repeat(5, async (n) => {
      await (await place.api(BROWSED[n % BROWSED.length] ?? '')).arrayBuffer()
    }),
  }
  return {
    /**
     * Stops it.
     * @returns a summary in words
     */
    async stop(): Promise<string> {
      await Promise.all(senders.map((sender) => sender.stop()))
      const [captures, reports] = senders.map((sender) => sender.sent())
      const counts = Object.entries(workers).map(
        async ([what, worker]) => `${(await worker.stop()).toLocaleString('en')} ${what}`,
      )
      transport.close()
      return [
        `${captures?.toLocaleString('en')} webhooks`,
        `${reports?.toLocaleString('en')} attack reports`,
        ...(await Promise.all(counts)),
      ].join(', ')
    },
  }
}

const BROWSED = [
  '/api/v1/account',
  '/api/webhook/endpoints',
  '/api/v1/abuse/stats',
  '/api/v1/monitoring/hosts',
  '/api/v1/dmarc/domains',
  '/api/v1/nothing',
  '/',
]

/** Repeats an action; a failure ends it and is reported by `stop`. */
function repeat(pause: number, act: (n: number) => Promise<void>) {
  const stopping = new AbortController()
  const done = (async () => {
    for (let n = 0; ; n++) {
      if (stopping.signal.aborted) return n
      await act(n)
      await sleep(pause)
    }
  })()
  done.catch(() => {})
  return {
    stop() {
      stopping.abort()
      return done
    },
  }
}

/** Megabytes that PostgreSQL's processes do not share, together. */
function privateMb({ dataDir }: Place): number {
  const postmaster =
    readFileSync(join(dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n', 1)[0] ?? ''
  const pids = readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && (pid === postmaster || parentOf(pid) === postmaster),
  )
  return pids.reduce((sum, pid) => sum + privateOf(pid), 0)
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process has ended.
    return ''
  }
}

const parentOf = (pid: string) => /PPid:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1]

function privateOf(pid: string): number {
  const rows = read(`/proc/${pid}/smaps_rollup`).matchAll(/Private_(?:Clean|Dirty):\s+(\d+)/g)
  return [...rows].reduce((sum, [, kb]) => sum + Number(kb) / 1024, 0)
}
