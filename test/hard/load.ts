import { setTimeout as sleep } from 'node:timers/promises'
import { captureOf, reportOf, startSender } from '../deploy/load.ts'
import { aggregate } from '../dmarc/reports.ts'
import { makeEndpoints, type Place } from './place.ts'

/** Acknowledged items, by the key under which they must be found. */
export type Acknowledged = Record<'captures' | 'reports' | 'uploads' | 'hosts', Set<string>>

export type Load = {
  acknowledged: Acknowledged
  /** Failures by status; 0 is a broken connection. */
  others(): Record<number, number>
  /** Milliseconds of the slowest success of each kind. */
  slowest(): Record<string, number>
  /** Waits for running requests. */
  stop(): Promise<Acknowledged>
  /**
   * Looks up everything acknowledged.
   * @returns the keys of missing items
   */
  missing(): Promise<Record<keyof Acknowledged, string[]>>
}

type LoadOptions = {
  endpoints?: number
  /** Milliseconds after each answer. */
  pause?: number
  /** Connections for webhooks, and for reports. */
  connections?: { captures: number; reports: number }
  /** Distinguishes the hosts and reports of one load from those of another on the same service. */
  series?: string
  /** First number of the addresses that attack reports name, for the same reason. */
  network?: number
}

const SOURCES = Array.from({ length: 250 }, (_, n) => `127.1.${n}.1`)

/** Sends webhooks, attack reports and DMARC reports and adds monitored hosts, all at once. */
export async function startLoad(place: Place, options: LoadOptions = {}): Promise<Load> {
  const {
    endpoints = 20,
    pause = 0,
    connections = { captures: 8, reports: 4 },
    series = 'hard',
    network = 100,
  } = options
  const tokens = await makeEndpoints(place, endpoints)
  const domainId = await registered(place, 'example.test')
  const captures = startSender(place.url, captureOf(tokens), {
    connections: connections.captures,
    pause,
  })
  const reports = startSender(place.url, reportOf(network), {
    from: SOURCES,
    connections: connections.reports,
    pause,
  })
  const uploads = keepAsking(MOST.uploads, pause, (n) => ({
    key: `${series}-${n}`,
    send: () => upload(place, `${series}-${n}`),
  }))
  const hosts = keepAsking(MOST.hosts, pause, (n) => ({
    key: `${series}-${n}.example.test`,
    send: () =>
      place.api('/api/v1/monitoring/hosts', 'POST', { host: `${series}-${n}.example.test` }),
  }))
  const acknowledged: Acknowledged = {
    captures: captures.tally.acknowledged,
    reports: reports.tally.acknowledged,
    uploads: uploads.acknowledged,
    hosts: hosts.acknowledged,
  }
  return {
    acknowledged,
    slowest: () => ({
      webhooks: captures.tally.slowest,
      'attack reports': reports.tally.slowest,
      'DMARC reports': uploads.slowest(),
      'monitored hosts': hosts.slowest(),
    }),
    others: () => sumOf([captures.tally.others, reports.tally.others]),
    async stop() {
      await Promise.all([captures, reports, uploads, hosts].map((sender) => sender.stop()))
      return acknowledged
    },
    missing: async () => ({
      captures: without(acknowledged.captures, await storedCaptures(place, tokens)),
      reports: await unheard(place, acknowledged.reports),
      uploads: without(acknowledged.uploads, await takenReports(place, domainId)),
      hosts: without(acknowledged.hosts, await watchedHosts(place)),
    }),
  }
}

function sumOf(counts: Map<number, number>[]): Record<number, number> {
  const sums: Record<number, number> = {}
  for (const [status, count] of counts.flatMap((map) => [...map]))
    sums[status] = (sums[status] ?? 0) + count
  return sums
}

/** The result when nothing is missing. */
export const NOTHING = { captures: [], reports: [], uploads: [], hosts: [] }

/** Describes how many of each were acknowledged. */
export function countsOf({ captures, reports, uploads, hosts }: Acknowledged): string {
  const many = (set: Set<string>, what: string) => `${set.size.toLocaleString('en')} ${what}`
  return [
    many(captures, 'webhooks'),
    many(reports, 'attack reports'),
    many(uploads, 'DMARC reports'),
    many(hosts, 'monitored hosts'),
  ].join(', ')
}

const without = (acknowledged: Set<string>, kept: Set<string>) =>
  [...acknowledged].filter((key) => !kept.has(key))

/** Maximum numbers: more hosts would be checked for longer than a test lasts. */
const MOST = { uploads: 3_000, hosts: 300 }

/** Sends requests one after another and records the acknowledged ones. */
function keepAsking(
  most: number,
  pause: number,
  make: (n: number) => { key: string; send: () => Promise<Response> },
) {
  const acknowledged = new Set<string>()
  let slowest = 0
  const stopping = new AbortController()
  const done = (async () => {
    for (let n = 0; !stopping.signal.aborted && n < most; n++) {
      const { key, send } = make(n)
      const begun = performance.now()
      const answer = await send().catch(() => null)
      const text = await answer?.text().catch(() => null)
      if (answer && answer.status < 300 && text) {
        acknowledged.add(key)
        slowest = Math.max(slowest, performance.now() - begun)
      }
      await sleep(answer && answer.status < 300 ? pause : 20)
    }
  })()
  return {
    acknowledged,
    slowest: () => slowest,
    async stop() {
      stopping.abort()
      await done
    },
  }
}

/** The id of a domain, which is registered where it is not yet. */
async function registered(place: Place, domain: string): Promise<string> {
  await place.api('/api/v1/dmarc/domains', 'POST', { domain })
  const { data } = (await (await place.api('/api/v1/dmarc/domains')).json()) as {
    data: { id: string; domain: string }[]
  }
  const found = data.find((one) => one.domain === domain)
  if (!found) throw new Error(`${domain} could not be registered`)
  return found.id
}

function upload(place: Place, id: string): Promise<Response> {
  const headers = { authorization: `Bearer ${place.token}`, 'content-type': 'application/xml' }
  const body = aggregate({ id, rows: [{ count: 1 }] })
  return fetch(`${place.url}/api/v1/dmarc/reports`, { method: 'POST', headers, body })
}

async function storedCaptures(place: Place, tokens: string[]): Promise<Set<string>> {
  const list = (await (await place.api('/api/webhook/endpoints')).json()) as {
    endpoints: { id: string; token: string }[]
  }
  const paths = new Set<string>()
  for (const { id, token } of list.endpoints.filter((endpoint) => tokens.includes(endpoint.token)))
    for (const path of await pathsOf(place, id)) paths.add(`/webhooks/${token}${path}`)
  return paths
}

async function pathsOf(place: Place, id: string): Promise<string[]> {
  const paths: string[] = []
  for (let cursor = ''; ;) {
    const answer = await read(place, `/api/webhook/endpoints/${id}/requests?limit=500${cursor}`)
    const page = (await answer.json()) as {
      requests: { path: string }[]
      nextCursor: string | null
      hasMore: boolean
    }
    paths.push(...page.requests.map(({ path }) => path))
    if (!page.hasMore) return paths
    cursor = `&cursor=${encodeURIComponent(page.nextCursor ?? '')}`
  }
}

async function unheard(place: Place, ips: Set<string>): Promise<string[]> {
  const missing: string[] = []
  for (const ip of ips) {
    const { data } = (await (await read(place, `/api/v1/abuse/check?ip=${ip}`)).json()) as {
      data: { totalReports: number }
    }
    if (data.totalReports === 0) missing.push(ip)
  }
  return missing
}

async function takenReports(place: Place, domainId: string): Promise<Set<string>> {
  const taken = new Set<string>()
  for (let page = 1; ; page++) {
    const answer = await read(
      place,
      `/api/v1/dmarc/domains/${domainId}/reports?limit=100&page=${page}`,
    )
    const { data } = (await answer.json()) as {
      data: { reports: { reportId: string }[]; pagination: { totalPages: number } }
    }
    for (const { reportId } of data.reports) taken.add(reportId)
    if (page >= data.pagination.totalPages) return taken
  }
}

async function watchedHosts(place: Place): Promise<Set<string>> {
  const text = await (await place.api('/api/v1/monitoring/hosts')).text()
  return new Set([...text.matchAll(/"host":"([^"]+)"/g)].map(([, host = '']) => host))
}

/** Reads what is stored, and waits where the rate of the account is used up. */
async function read(place: Place, path: string): Promise<Response> {
  for (;;) {
    const answer = await place.api(path)
    if (answer.status !== 429) return answer
    await sleep(Number(answer.headers.get('retry-after') ?? 1) * 1_000)
  }
}
