import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isReady } from '../deploy/instance.ts'
import { captureOf, reportOf, startSender, type Sender } from '../deploy/load.ts'
import { aggregate } from '../dmarc/reports.ts'
import { accountOn, contents, fill, mail, read } from '../migration/mailbox.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startProxy, type Proxy } from '../servers/proxy.ts'
import { makeEndpoints, startPlace, type Place } from './place.ts'

const ROUNDS = 12
const SOURCES = Array.from({ length: 250 }, (_, n) => `127.1.${n}.1`)

let place: Place
let mailServer: MailServer
let slow: Proxy

beforeAll(async () => {
  ;[place, mailServer] = await Promise.all([startPlace(), startDovecot()])
  slow = await startProxy(mailServer.port, { roundTrip: 100 })
})
afterAll(async () => {
  await slow.close()
  await Promise.all([place.stop(), mailServer.stop()])
})

/** All that an account can ask for by the page, page after page. */
async function everything<T>(path: string, pick: (data: never) => { items: T[]; pages: number }): Promise<T[]> {
  const all: T[] = []
  for (let page = 1; ; page++) {
    const { data } = (await (await place.api(`${path}?limit=100&page=${page}`)).json()) as { data: never }
    const { items, pages } = pick(data)
    all.push(...items)
    if (page >= pages) return all
  }
}

/** Sends one after the other; what is answered with success is kept. */
function keepAsking(make: (n: number) => { key: string; send: () => Promise<Response> }) {
  const acknowledged = new Set<string>()
  const stopping = new AbortController()
  const done = (async () => {
    for (let n = 0; !stopping.signal.aborted; n++) {
      const { key, send } = make(n)
      const answer = await send().catch(() => null)
      const text = await answer?.text().catch(() => null)
      if (answer && answer.status < 300 && text) acknowledged.add(key)
      else await sleep(20)
    }
  })()
  return {
    acknowledged,
    async stop() {
      stopping.abort()
      await done
    },
  }
}

describe('killed without warning, a dozen times under mixed load, the service and its database in turn', () => {
  it('has lost nothing that it acknowledged', async () => {
    const tokens = await makeEndpoints(place, 20)
    const domain = await place.api('/api/v1/dmarc/domains', 'POST', { domain: 'example.test' })
    const { id: domainId } = ((await domain.json()) as { data: { id: string } }).data
    const migrationId = await beginMigration()
    const senders: Sender[] = [
      startSender(place.url, captureOf(tokens)),
      startSender(place.url, reportOf(100), { from: SOURCES, connections: 4 }),
    ]
    const uploads = keepAsking((n) => ({
      key: `hard-${n}`,
      send: () => upload(aggregate({ id: `hard-${n}`, rows: [{ count: 1 }] })),
    }))
    const hosts = keepAsking((n) => ({
      key: `host-${n}.example.test`,
      send: () => place.api('/api/v1/monitoring/hosts', 'POST', { host: `host-${n}.example.test` }),
    }))

    const recovered: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      await sleep(300 + Math.random() * 2_000)
      const begun = performance.now()
      if (round % 2 === 0) await killService()
      else killDatabase()
      await isReady(place.instance)
      recovered.push(Math.round(performance.now() - begun))
    }
    const [captures, reports] = await Promise.all(senders.map((sender) => sender.stop()))
    await Promise.all([uploads.stop(), hosts.stop()])

    const stored = new Set<string>()
    for (const token of tokens) for (const path of await pathsOf(token)) stored.add(path)
    const missing = (kept: Set<string>, acknowledged: Set<string> = new Set()) =>
      [...acknowledged].filter((key) => !kept.has(key))
    // An endpoint keeps its newest thousand.
    expect(Math.max(...[...captures!.acknowledged].map((path) => Number(path.split('/').at(-1))))).toBeLessThan(20_000)
    expect(missing(stored, captures?.acknowledged)).toEqual([])

    const heard = new Set<string>()
    for (const ip of reports!.acknowledged) {
      const { data } = (await (await place.api(`/api/v1/abuse/check?ip=${ip}`)).json()) as {
        data: { totalReports: number }
      }
      if (data.totalReports > 0) heard.add(ip)
    }
    expect(missing(heard, reports?.acknowledged)).toEqual([])

    const taken = await everything<{ reportId: string }>(
      `/api/v1/dmarc/domains/${domainId}/reports`,
      (data: Paged) => ({
        items: data.reports as { reportId: string }[],
        pages: data.pagination.totalPages,
      }),
    )
    expect(missing(new Set(taken.map(({ reportId }) => reportId)), uploads.acknowledged)).toEqual([])
    const watched = await (await place.api('/api/v1/monitoring/hosts')).text()
    expect([...hosts.acknowledged].filter((host) => !watched.includes(`"${host}"`))).toEqual([])

    await migrationEnds(migrationId)
    expect(contents((await read(accountOn(mailServer.port, 'there')))['INBOX'])).toEqual(
      contents((await read(accountOn(mailServer.port)))['INBOX']),
    )
    console.log(
      `killed ${ROUNDS} times; acknowledged and found: ${captures?.acknowledged.size} captures, ` +
        `${reports?.acknowledged.size} attack reports, ${uploads.acknowledged.size} DMARC reports, ${hosts.acknowledged.size} monitored hosts, one migration of 1,500 mails; ` +
        `ready again after ${Math.min(...recovered)} to ${Math.max(...recovered)} ms`,
    )
  })
})

type Paged = { pagination: { totalPages: number } } & Record<string, unknown>

function upload(xml: string): Promise<Response> {
  const headers = { authorization: `Bearer ${place.token}`, 'content-type': 'application/xml' }
  return fetch(`${place.url}/api/v1/dmarc/reports`, { method: 'POST', headers, body: xml })
}

async function killService(): Promise<void> {
  await place.instance.kill('SIGKILL')
  await place.again()
}

function killDatabase(): void {
  const pid = Number(readFileSync(join(place.dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n', 1)[0])
  process.kill(pid, 'SIGKILL')
}

async function pathsOf(token: string): Promise<string[]> {
  const list = (await (await place.api('/api/webhook/endpoints')).json()) as {
    endpoints: { id: string; token: string }[]
  }
  const id = list.endpoints.find((endpoint) => endpoint.token === token)?.id
  const paths: string[] = []
  for (let cursor = ''; ;) {
    const answer = await place.api(`/api/webhook/endpoints/${id}/requests?limit=500${cursor}`)
    const page = (await answer.json()) as { requests: { path: string }[]; nextCursor: string | null; hasMore: boolean }
    paths.push(...page.requests.map(({ path }) => `/webhooks/${token}${path}`))
    if (!page.hasMore) return paths
    cursor = `&cursor=${encodeURIComponent(page.nextCursor ?? '')}`
  }
}

async function beginMigration(): Promise<string> {
  for (const user of ['alice', 'there']) await mailServer.addUser(user, 'secret')
  await fill(accountOn(mailServer.port), { INBOX: Array.from({ length: 1_500 }, () => ({ body: mail(6_000) })) })
  const side = (user: string, port: number) => ({ host: '127.0.0.1', port, secure: false, user, password: 'secret' })
  const body = { source: side('alice', mailServer.port), destination: side('there', slow.port), folders: ['INBOX'] }
  const answer = await place.api('/api/v1/imap/migrate', 'POST', body)
  return ((await answer.json()) as { migrationId: string }).migrationId
}

async function migrationEnds(id: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const { status } = (await (await place.api(`/api/v1/imap/migrate/${id}`)).json()) as { status: string }
    if (status === 'completed') return
    if (status === 'failed') throw new Error('the migration failed')
    await sleep(250)
  }
  throw new Error('the migration does not end')
}
