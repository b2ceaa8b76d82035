import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runPortreeve } from '../cli/command.ts'
import { isReady } from '../deploy/instance.ts'
import { accountOn, contents, fill, mail, read } from '../migration/mailbox.ts'
import { startDovecot, type DovecotServer } from '../servers/dovecot.ts'
import { startZoneServer, type ZoneServer } from '../servers/zone-server.ts'
import { figure } from './figures.ts'
import { startPlace, type Place } from './place.ts'

const MAILBOXES = 200
const MAILS = 3
const DOMAIN = 'company.test'
/** Mailboxes that the test reads or fills at once. */
const AT_ONCE = 10

type Batch = { counts: Record<string, number>; sync: unknown }
type Cutover = {
  status: string
  step: string | null
  advice: string | null
  quiet: { newMessages: number; unwatched: number }
  finalPass: { done: number }
}

const users = Array.from({ length: MAILBOXES }, (_, index) => `person${index}`)

/** An address of its own: name servers are asked at port 53. */
const nameServer = {
  address: `127.77.${process.pid % 250}.${1 + Math.floor(Math.random() * 250)}`,
  port: 53,
}
let serial = 0
const zoneOf = (host: string, ttl: number) => `$ORIGIN ${DOMAIN}.
$TTL 60
@ SOA ns1 admin ${(serial += 1)} 3600 600 86400 60
@ NS ns1
ns1 A ${nameServer.address}
@ ${ttl} MX 10 ${host}.
`

describe.skipIf(process.getuid?.() !== 0)('the cut-over of a company with 200 mailboxes', () => {
  let place: Place
  let zone: ZoneServer
  let from: DovecotServer
  let to: DovecotServer
  let sent = 0

  beforeAll(async () => {
    ;[from, to, zone] = await Promise.all([
      startDovecot(),
      startDovecot(),
      startZoneServer({ [DOMAIN]: zoneOf('mx.old.test', 3600) }, nameServer),
    ])
    place = await startPlace({ DNS_SERVERS: `${nameServer.address}:53` })
    for (const user of users)
      await Promise.all([from.addUser(user, 'secret'), to.addUser(user, 'secret')])
    await forEachUser(users, async (user) => deliver(user, MAILS))
  })
  afterAll(async () => {
    await place.stop()
    await Promise.all([from.stop(), to.stop(), zone.close()])
  })

  async function deliver(user: string, count: number): Promise<void> {
    const letters = Array.from({ length: count }, () => ({ body: mail(2_000) }))
    await fill(accountOn(from.port, user), { INBOX: letters })
    sent += count
  }
  /** Delivers one message to every tenth mailbox, beginning with this one. */
  async function deliverSome(first: number): Promise<void> {
    await forEachUser(
      users.filter((_, index) => index % 10 === first),
      async (user) => deliver(user, 1),
    )
  }
  async function killService(): Promise<void> {
    await place.instance.kill('SIGKILL')
    await place.again()
  }
  async function killDatabase(): Promise<void> {
    const file = join(place.dataDir, 'postgres/postmaster.pid')
    const pidOf = () =>
      existsSync(file) ? Number(readFileSync(file, 'utf8').split('\n', 1)[0]) : 0
    const before = pidOf()
    process.kill(before, 'SIGKILL')
    await expect.poll(() => [0, before].includes(pidOf()), { timeout: 30_000 }).toBe(false)
    await isReady(place.instance)
  }
  async function api<T>(path: string, method = 'GET', body?: unknown): Promise<T> {
    const answer = await place.api(`/api/v1/imap/batches${path}`, method, body)
    const { data, error } = (await answer.json()) as { data: T; error?: string }
    expect(error, `${method} ${path}`).toBeUndefined()
    return data
  }

  it('moves every message exactly once, through kills and restarts of everything, and proves it', async () => {
    const begun = performance.now()
    const side = ({ port }: DovecotServer) => ({ host: '127.0.0.1', port, secure: false })
    const { batch } = await api<{ batch: { id: string } }>('', 'POST', {
      name: 'Company',
      text: `user,password\n${users.map((user) => `${user},secret\n`).join('')}`,
      source: side(from),
      destination: side(to),
      sourceLimit: 20,
      destinationLimit: 20,
    })
    const path = `/${batch.id}`
    const cutover = async () => (await api<Cutover>(`${path}/cutover`)) ?? ({} as Cutover)
    const reach = (expected: object, timeout = 150_000) =>
      expect
        .poll(
          async () => {
            await place.api(`/api/v1/imap/batches${path}/cutover/check`, 'POST')
            return cutover().catch((error: unknown) => ({ error }))
          },
          { timeout, interval: 1_000 },
        )
        .toMatchObject(expected)

    await api(`${path}/start`, 'POST', {})
    await sleep(3_000)
    await killService()
    await deliverSome(1)
    await sleep(3_000)
    await killDatabase()
    const inSync = { counts: { in_sync: MAILBOXES } }
    await expect
      .poll(() => api<Batch>(path), { timeout: 150_000, interval: 500 })
      .toMatchObject(inSync)

    await api(`${path}/cutover`, 'POST', {
      domain: DOMAIN,
      mx: ['mx.new.test'],
      quietHours: 0,
      proofLevel: 'full',
    })
    await zone.change(DOMAIN, zoneOf('mx.old.test', 60))
    await reach({ step: 'ttl', advice: 'The TTL is low. Wait until every resolver has it.' })
    await api(`${path}/cutover/steps/ttl/confirm`, 'POST', { note: 'Lowered a day ago' })
    await zone.change(DOMAIN, zoneOf('mx.new.test', 60))
    await reach({ step: 'quiet' })

    await deliverSome(2)
    await api(`${path}/sync`, 'PUT', { everyMinutes: 5 })
    await sleep(2_000)
    await Promise.all([from.restart(), to.restart()])
    await reach({ step: 'final_pass', quiet: { newMessages: MAILBOXES / 10, unwatched: 0 } })

    await deliverSome(3)
    await api(`${path}/cutover/final-pass`, 'POST')
    await sleep(2_000)
    await killService()
    await to.restart()
    await reach({ status: 'done' }, 200_000)
    const seconds = Math.round((performance.now() - begun) / 1_000)

    await forEachUser(users, async (user) => {
      const [here, there] = await Promise.all([
        read(accountOn(from.port, user)),
        read(accountOn(to.port, user)),
      ])
      expect(contents(there['INBOX']), user).toEqual(contents(here['INBOX']))
    })
    const folder = mkdtempSync(join(tmpdir(), 'portreeve-cutover-'))
    const file = join(folder, 'proof.jsonl')
    const answer = await place.api(`/api/v1/imap/batches${path}/proof/file`)
    writeFileSync(file, await answer.text())
    const verify = ['verify-proof', file, '--server', place.url, '--json']
    const { code, out, err } = await runPortreeve(verify, {})
    rmSync(folder, { recursive: true })
    expect(code, err).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      data: {
        proof: {
          verdict: 'identical',
          totals: { source: { messages: sent }, kept: { messages: sent }, missing: 0 },
        },
      },
    })
    figure(
      `a cut-over of ${MAILBOXES} mailboxes, with the service killed twice, PostgreSQL once, and both mail servers restarted`,
      `each of ${sent} messages exists once at the destination, those included that arrived meanwhile; the proof is verified; ${seconds} s`,
    )
  })
})

async function forEachUser(
  some: readonly string[],
  work: (user: string) => Promise<void>,
): Promise<void> {
  const waiting = [...some]
  const next = async (): Promise<void> => {
    for (let user = waiting.shift(); user !== undefined; user = waiting.shift()) await work(user)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
}
