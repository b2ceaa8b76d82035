import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Static } from 'typebox'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { addObservation, ttlEverywhereAt } from '../../src/migration/cutover/dns-facts.ts'
import type { MxObservation } from '../../src/migration/cutover/cutover-mx.ts'
import type { Cutover as CutoverShape } from '../../src/migration/cutover/shapes.ts'
import { runPortreeve } from '../cli/command.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startZoneServer, type ZoneServer } from '../servers/zone-server.ts'
import { accountOn, contents, fill, inside, read } from './mailbox.ts'
import { startMigrations, type MigrationTest, type Person } from './module.ts'

type Cutover = Static<typeof CutoverShape>

const DOMAIN = 'company.test'
let serial = 0

/** The zone of a company whose mail server is `host`. */
function zoneOf(host: string, ttl: number): string {
  return `$ORIGIN ${DOMAIN}.
$TTL 60
@ SOA ns1 admin ${(serial += 1)} 3600 600 86400 60
@ NS ns1
@ NS ns2
ns1 A 127.0.0.1
ns2 A 127.0.0.1
@ ${ttl} MX 10 ${host}.
`
}

describe('what is known about MX records', () => {
  const none = {
    highestTtl: null,
    lastTtl: null,
    ttlLowAt: null,
    switchedAt: null,
    revertedAt: null,
  }
  const expectation = { expectedMx: ['new.test'], targetTtl: 300 }
  const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute))
  const answers = (...servers: [host: string | null, ttl: number][]): MxObservation => {
    const all = servers.map(([host, ttl], index) => ({
      server: `ns${index}`,
      hosts: host === null ? [] : [host],
      ttl: host === null ? null : ttl,
      problem: host === null ? 'No answer (TIMEOUT).' : null,
    }))
    const [resolver] = all
    if (!resolver) throw new Error('no servers')
    return { zone: DOMAIN, servers: all, resolver, problem: null }
  }
  const after = (...observed: MxObservation[]) =>
    observed.reduce(
      (facts, observation, minute) => addObservation(facts, expectation, observation, at(minute)),
      none as Parameters<typeof addObservation>[0],
    )

  it('counts the old TTL from the moment on at which every name server has the low one', () => {
    const high = answers(['old.test', 3600], ['old.test', 3600])
    const half = answers(['old.test', 60], ['old.test', 3600])
    const low = answers(['old.test', 60], ['old.test', 60])
    expect(after(high, half)).toMatchObject({ ttlLowAt: null, highestTtl: 3600 })
    const facts = after(high, half, low, low)
    expect(facts).toMatchObject({ ttlLowAt: at(2), lastTtl: 60 })
    expect(ttlEverywhereAt(facts)).toEqual(at(62))
    // A name server that was restored from a backup.
    expect(after(high, low, half).ttlLowAt).toBeNull()
    expect(after(high, low, answers(['old.test', 60], [null, 0])).ttlLowAt).toEqual(at(1))
  })

  it('needs every name server for the switch, and notices when one has other records again', () => {
    const old = answers(['old.test', 60], ['old.test', 60])
    const half = answers(['new.test', 60], ['old.test', 60])
    const silent = answers(['new.test', 60], [null, 0])
    const all = answers(['new.test', 60], ['new.test', 60])
    expect(after(old, half, silent).switchedAt).toBeNull()
    expect(after(old, half, all, silent)).toMatchObject({ switchedAt: at(2), revertedAt: null })
    expect(after(old, all, half)).toMatchObject({ switchedAt: at(1), revertedAt: at(2) })
    expect(after(old, all, half, all).revertedAt).toBeNull()
  })
})

describe('the cut-over of a domain', () => {
  let from: MailServer
  let to: MailServer
  let zone: ZoneServer
  let fresh: FreshDatabase
  let portreeve: MigrationTest
  let alice: Person
  let charlie: Person
  let names = 0

  beforeAll(async () => {
    ;[from, to, zone, fresh] = await Promise.all([
      startDovecot(),
      startDovecot(),
      startZoneServer({ [DOMAIN]: zoneOf('mx.old.test', 3600) }),
      freshDatabase(),
    ])
    portreeve = await startMigrations(fresh.url, { dnsPort: zone.port })
    ;[alice, charlie] = [await portreeve.addPerson('Alice'), await portreeve.addPerson('Charlie')]
  })
  afterAll(async () => {
    await portreeve.stop()
    await Promise.all([from.stop(), to.stop(), zone.close(), fresh.drop()])
  })

  type Answer<T> = { data: T; error: string; status: number }
  async function call<T>(
    path: string,
    body?: unknown,
    method?: string,
    { token } = alice,
  ): Promise<Answer<T>> {
    const asked = { token, ...(body !== undefined && { body }), ...(method && { method }) }
    const response = await portreeve.request(`batches${path}`, asked)
    const answer = (await response.json()) as Answer<T>
    return { ...answer, status: response.status }
  }
  /** A batch of two new mailboxes that are in sync. */
  async function copiedBatch(): Promise<{ id: string; users: string[] }> {
    const users = [`c${(names += 1)}`, `c${(names += 1)}`]
    for (const user of users) {
      await Promise.all([from.addUser(user, 'secret'), to.addUser(user, 'secret')])
      await fill(accountOn(from.port, user), { INBOX: [{}, {}] })
    }
    const side = ({ port }: MailServer) => ({ host: '127.0.0.1', port, secure: false })
    const created = await call<{ batch: { id: string } }>('', {
      name: 'Company',
      text: `user,password\n${users.map((user) => `${user},secret\n`).join('')}`,
      source: side(from),
      destination: side(to),
    })
    const { id } = created.data.batch
    await call(`/${id}/start`, {})
    await inSync(id)
    return { id, users }
  }
  const inSync = (id: string, passes = 1) =>
    vi.waitFor(
      async () => {
        type Row = { state: string; passes: number }
        const { data } = await call<{ mailboxes: Row[] }>(`/${id}/mailboxes`)
        for (const mailbox of data.mailboxes) {
          expect(mailbox.state).toBe('in_sync')
          expect(mailbox.passes).toBeGreaterThanOrEqual(passes)
        }
      },
      { timeout: 40_000, interval: 100 },
    )
  /** As if the last passes of a batch had begun two minutes earlier. */
  const ageLastPasses = (id: string) =>
    fresh.pool.query(
      `update migration_sync set last_started_at = last_started_at - interval '2 minutes'
        where migration_id in (select id from migration where batch_id = $1)`,
      [id],
    )
  /** After a check. */
  async function countDuePasses(id: string): Promise<number> {
    await call(`/${id}/cutover/check`, {})
    const { rows } = await fresh.pool.query<{ due: number }>(
      `select count(*)::int as due from migration_sync join migration on migration.id = migration_id
        where batch_id = $1 and next_at <= now()`,
      [id],
    )
    return rows[0]?.due ?? Number.NaN
  }
  const find = async (id: string) => (await call<Cutover>(`/${id}/cutover`)).data
  /** Has it checked until it is as expected: a busy name server may be late. */
  const checked = (id: string, expected: object) =>
    vi.waitFor(
      async () => {
        await call(`/${id}/cutover/check`, {})
        const cutover = await find(id)
        expect(cutover).toMatchObject(expected)
        return cutover
      },
      { timeout: 40_000, interval: 300 },
    )
  const confirm = (id: string, step: string, note: string) =>
    call<Cutover>(`/${id}/cutover/steps/${step}/confirm`, { note })
  async function alerts(): Promise<string[]> {
    const { rows } = await fresh.pool.query<{ kind: string }>(
      `select kind from alert where kind like 'cutover.%' order by kind`,
    )
    return rows.map(({ kind }) => kind)
  }

  it('shows what it saw in DNS and in the old inboxes, and ends with a proof', async () => {
    const { id, users } = await copiedBatch()
    expect((await call(`/${id}/cutover`)).data).toBeNull()
    const request = { domain: DOMAIN, mx: ['MX.new.test.'], quietHours: 1, proofLevel: 'full' }
    expect((await call(`/${id}/cutover`, { ...request, mx: ['127.0.0.1'] })).status).toBe(400)
    expect((await call(`/${id}/cutover`, request, 'POST', charlie)).status).toBe(404)
    const created = await call<Cutover>(`/${id}/cutover`, request)
    expect(created.status, created.error).toBe(201)
    expect((await call(`/${id}/cutover`, request)).status).toBe(409)
    expect(await checked(id, { step: 'ttl', needsAction: true, dns: { ttl: 3600 } })).toMatchObject(
      {
        mx: ['mx.new.test'],
        dns: {
          zone: DOMAIN,
          servers: [
            { server: `ns1.${DOMAIN}`, hosts: ['mx.old.test'], ttl: 3600, isExpected: false },
            { server: `ns2.${DOMAIN}`, hosts: ['mx.old.test'], ttl: 3600, isExpected: false },
          ],
          resolver: { hosts: ['mx.old.test'] },
          ttlEverywhereAt: null,
        },
      },
    )

    await zone.change(DOMAIN, zoneOf('mx.old.test', 60))
    const low = await checked(id, { step: 'ttl', needsAction: false, dns: { ttl: 60 } })
    const everywhere = Date.parse(low.dns.ttlEverywhereAt ?? '')
    expect(everywhere - Date.parse(low.dns.ttlLowAt ?? '')).toBe(3_600_000)
    expect((await confirm(id, 'quiet', 'too early')).status).toBe(409)
    expect((await call(`/${id}/cutover/final-pass`, undefined, 'POST')).status).toBe(409)
    expect((await confirm(id, 'ttl', 'Lowered yesterday')).data.steps[0]).toMatchObject({
      outcome: 'confirmed',
      person: 'Alice',
      note: 'Lowered yesterday',
    })

    await zone.change(DOMAIN, zoneOf('mx.new.test', 60))
    expect((await checked(id, { step: 'quiet' })).steps[1]).toMatchObject({ outcome: 'seen' })
    await fill(accountOn(from.port, users[0]), { INBOX: [{}] })
    await inSync(id, 2)
    await ageLastPasses(id)
    const watched = await checked(id, {
      quiet: { newMessages: 1, withNewMessages: 1, unwatched: 0 },
    })
    // The passes have just begun, so that another check does not start further ones.
    await expect.poll(() => countDuePasses(id)).toBe(0)
    expect(watched.quiet.mailboxes).toMatchObject([{ source: users[0], messages: 1 }])
    // A date of a mail server has no fraction of a second, so it may be that of the switch.
    const { since, lastArrivalAt } = watched.quiet
    expect(Date.parse(since ?? '') - Date.parse(lastArrivalAt ?? '')).toBeLessThan(1_000)

    await zone.change(DOMAIN, zoneOf('mx.old.test', 60))
    await checked(id, { dns: { revertedAt: expect.any(String) } })
    await zone.change(DOMAIN, zoneOf('mx.new.test', 60))
    await checked(id, { dns: { revertedAt: null } })
    expect((await confirm(id, 'quiet', 'Everybody knows')).data).toMatchObject({
      step: 'final_pass',
      needsAction: true,
    })
    await checked(id, { step: 'final_pass' })
    await fill(accountOn(from.port, users[1]), { INBOX: [{}] })

    const env = { PORTREEVE_TOKEN: alice.token, NO_COLOR: '1' }
    const cli = (...words: string[]) =>
      runPortreeve(['cutover', ...words, '--server', portreeve.url], env)
    const shown = await cli('show', id)
    expect(shown.code, shown.err).toBe(1)
    expect(shown.out).toContain('confirmed by Alice')
    expect(shown.out).toContain('Start the final pass')
    expect((await cli('show', 'a-batch')).code).toBe(2)
    const started = await cli('final-pass', id, '--json')
    expect(started.code, started.err).toBe(0)
    const done = await vi.waitFor(
      async () => {
        const cutover = await find(id)
        expect(cutover.status, JSON.stringify(cutover)).toBe('done')
        return cutover
      },
      { timeout: 40_000, interval: 100 },
    )
    expect(done.steps.map(({ outcome }) => outcome)).toEqual([
      'confirmed',
      'seen',
      'confirmed',
      'seen',
      'seen',
    ])
    expect((await cli('show', id)).code).toBe(0)
    for (const user of users) {
      const [here, there] = [
        await read(accountOn(from.port, user)),
        await read(accountOn(to.port, user)),
      ]
      expect(contents(there['INBOX'])).toEqual(contents(here['INBOX']))
    }
    expect((await call<{ sync: unknown }>(`/${id}`)).data.sync).toBeNull()
    expect(await alerts()).toEqual([
      'cutover.continued',
      'cutover.done',
      'cutover.ready',
      'cutover.restored',
      'cutover.reverted',
    ])

    const proof = await call<{ done: number; proof: { verdict: string } }>(`/${id}/proof`)
    expect(proof.data).toMatchObject({ done: 2, proof: { verdict: 'identical' } })
    const folder = mkdtempSync(join(tmpdir(), 'portreeve-cutover-'))
    const file = await portreeve.request(`batches/${id}/proof/file`, alice)
    writeFileSync(join(folder, 'proof.jsonl'), await file.text())
    const verified = await runPortreeve(
      ['verify-proof', join(folder, 'proof.jsonl'), '--server', portreeve.url],
      {},
    )
    rmSync(folder, { recursive: true })
    expect(verified.code, verified.err).toBe(0)
    expect(verified.out).toContain('6 messages')
  })

  it('waits for a mailbox whose final pass fails, and is cancelled with its batch', async () => {
    const { id, users } = await copiedBatch()
    await zone.change(DOMAIN, zoneOf('mx.old.test', 60))
    await call(`/${id}/cutover`, { domain: DOMAIN, mx: ['mx.new.test'], quietHours: 0 })
    await inSync(id, 2)
    await ageLastPasses(id)
    await confirm(id, 'ttl', 'Lowered yesterday')
    // The inboxes are quiet at once, but the passes are older than the switch: they run again.
    await confirm(id, 'switch', 'Seen at our provider')
    await inSync(id, 3)
    await checked(id, { step: 'final_pass', needsAction: true })
    await to.addUser(users[0] ?? '', 'another password')
    await vi.waitFor(async () =>
      expect(inside(accountOn(to.port, users[0]), async () => {})).rejects.toThrow(),
    )
    await call(`/${id}/cutover/final-pass`, undefined, 'POST')
    const failed = await vi.waitFor(
      async () => {
        const cutover = await find(id)
        expect(cutover).toMatchObject({
          step: 'final_pass',
          needsAction: true,
          finalPass: { done: 1, failed: 1 },
        })
        return cutover
      },
      { timeout: 40_000, interval: 100 },
    )
    expect(failed.advice).toContain('1 mailbox needs attention')
    await call(`/${id}/finish`, {})
    expect(await find(id)).toMatchObject({ status: 'cancelled' })
  })
})
