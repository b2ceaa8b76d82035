import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startBreakingRelay } from '../alerts/breaking-relay.ts'
import type { AlertsTestOptions, Person } from '../alerts/module.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { removeEverybody } from '../people.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { countIncidents } from '../../src/alerts/incidents.sql.ts'
import { insertMembership } from '../../src/accounts/workspaces/workspaces.sql.ts'
import { deleteMembership } from '../../src/accounts/workspaces/members/members.sql.ts'
import { deliverDigest, findDueDigests } from '../../src/digest/delivery/deliver-digest.ts'
import { claimDigest, handOverDigest } from '../../src/digest/digest-subscriptions.sql.ts'
import { createFiller, fillBusyWeek } from './fill.ts'
import { startDigests, type DigestTest, type ShownDigest } from './module.ts'

const HTTPS = 'https://portreeve.example.com'
const DUE = '2026-11-23T08:00:00Z'
const WEEKLY = { frequency: 'weekly', weekday: 1, hour: 8, timeZone: 'UTC' }

let database: FreshDatabase
let sink: Sink
let instances: DigestTest[] = []
let portreeve: DigestTest
let alice: Person

beforeAll(async () => {
  database = await freshDatabase()
  sink = await startSink()
})
afterAll(async () => {
  await sink.stop()
  await database.drop()
})
beforeEach(async () => {
  sink.mails.length = 0
  sink.behaviour = 'taking'
  portreeve = await start()
  alice = await portreeve.addPerson('Alice')
})
afterEach(async () => {
  for (const instance of instances.splice(0)) await instance.stop()
  await removeEverybody(database.db)
})

async function start(options: AlertsTestOptions = {}): Promise<DigestTest> {
  const instance = await startDigests(database.url, {
    smtpUrl: sink.url,
    env: { BASE_URL: HTTPS },
    ...options,
  })
  instances.push(instance)
  return instance
}

const self = ({ id }: Person) => ({ workspaceId: id, accountId: id })

async function subscribe(person: Person, settings: object = WEEKLY, dueAt = DUE): Promise<void> {
  expect((await portreeve.call(person.token, 'PUT', 'digest', settings)).status).toBe(200)
  await portreeve.schedule(self(person), dueAt)
}

const shown = async (person: Person) =>
  (await portreeve.call<ShownDigest>(person.token, 'GET', 'digest')).json.data

describe('a digest', () => {
  it('is off until the member turns it on', async () => {
    expect(await shown(alice)).toMatchObject({ frequency: 'off', nextAt: null, lastOutcome: null })
    await portreeve.run('2027-01-01T00:00:00Z')
    expect(sink.mails).toEqual([])
  })

  it('arrives once at its time as text and HTML, and is scheduled for the next week', async () => {
    await fillBusyWeek(database.db, self(alice), DUE)
    await subscribe(alice)
    await portreeve.run('2026-11-23T07:59:59Z')
    expect(sink.mails).toEqual([])
    await portreeve.run('2026-11-23T08:01:00Z')
    await portreeve.run('2026-11-23T08:02:00Z')
    expect(sink.mails).toHaveLength(1)
    const [mail] = sink.mails
    expect(mail?.to).toMatchObject([{ address: 'alice@people.test' }])
    expect(mail?.subject).toBe('Weekly digest of Alice: 2 open problems')
    // As the page of alerts counts them; each object is shown once.
    expect(await countIncidents(database.db, alice.id, { state: 'open' })).toBe(2)
    expect(mail?.text).toContain('3 objects need attention.')
    const [, attention = ''] = /\nNeeds attention\n(.*?)\nDMARC/s.exec(mail?.text ?? '') ?? []
    expect(attention).toContain('- mail.example.com (main relay) is on 2 blocklists')
    expect(attention).not.toMatch(/certificate|SPF/)
    expect(mail?.text).toContain('- example.com: 93%, 49,700 messages, −5.0 points')
    expect(mail?.html).toContain('mail.example.com (main relay) is on 2 blocklists')
    expect(await shown(alice)).toMatchObject({
      lastOutcome: 'sent',
      lastError: null,
      nextAt: '2026-11-30T08:00:00.000Z',
    })
    await portreeve.run('2026-11-30T08:10:00Z')
    expect(sink.mails).toHaveLength(2)
    expect(sink.mails[1]?.text).toContain('23 Nov 2026 – 30 Nov 2026')
  })

  it('has the headers of RFC 8058 and no others that do not work', async () => {
    await subscribe(alice)
    await portreeve.run(DUE)
    const headers = new Map(sink.mails[0]?.headers.map(({ key, value }) => [key, value]))
    expect(headers.get('list-unsubscribe')).toMatch(
      /^<https:\/\/portreeve\.example\.com\/digest\/unsubscribe\/[\w-]{75}>$/,
    )
    expect(headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
    expect(headers.get('auto-submitted')).toBe('auto-generated')
    expect(headers.get('content-type')).toMatch(/^multipart\/alternative/)
    expect(headers.get('message-id')).toMatch(/^<digest-[0-9a-f]{32}@portreeve\.test>$/)
  })

  it('offers one-click unsubscribing only over HTTPS', async () => {
    const insecure = await start({ env: { BASE_URL: 'http://portreeve.test' } })
    await subscribe(alice)
    await insecure.run(DUE)
    const keys = sink.mails[0]?.headers.map(({ key }) => key)
    expect(keys).toContain('list-unsubscribe')
    expect(keys).not.toContain('list-unsubscribe-post')
  })

  it('catches up with one email after downtime, which covers everything that was missed', async () => {
    const fill = createFiller(database.db, alice.id, '2026-11-23T08:00:00Z')
    await fill.alert('dmarc.failures', 'An alert of three days before', { daysAgo: 3 })
    await subscribe(alice, { ...WEEKLY, frequency: 'daily' }, '2026-11-18T08:00:00Z')
    await portreeve.run('2026-11-18T08:00:00Z')
    await portreeve.run('2026-11-23T09:30:00Z')
    await portreeve.run('2026-11-23T09:31:00Z')
    expect(sink.mails).toHaveLength(2)
    expect(sink.mails[1]?.text).toContain('18 Nov 2026 – 23 Nov 2026')
    expect(sink.mails[1]?.text).toContain('An alert of three days before')
    expect((await shown(alice)).nextAt).toBe('2026-11-24T08:00:00.000Z')
  })

  it('is sent once a local day when the clock changes', async () => {
    const berlin = { frequency: 'daily', hour: 2, timeZone: 'Europe/Berlin' }
    await subscribe(alice, berlin, '2026-10-25T00:00:00Z')
    for (
      let at = Date.parse('2026-10-25T00:00:00Z');
      at < Date.parse('2026-10-26T00:00:00Z');
      at += 900_000
    )
      await portreeve.run(new Date(at))
    expect(sink.mails).toHaveLength(1)
    expect((await shown(alice)).nextAt).toBe('2026-10-26T01:00:00.000Z')
  })

  it('of a quiet week has three lines', async () => {
    const fill = createFiller(database.db, alice.id, DUE)
    await fill.host('mail.example.com')
    await fill.reported(await fill.dmarcDomain('example.com'), {
      from: 14,
      to: 1,
      messages: 100,
      aligned: 99,
    })
    await subscribe(alice)
    await portreeve.run(DUE)
    const lines = sink.mails[0]?.text?.split('\n\n')[1]?.split('\n')
    expect(lines).toEqual([
      'No open problems.',
      'Nothing changed since 16 Nov 2026.',
      '1 monitored host checked.',
      'DMARC: 99% of 700 messages passed in the last 7 days (unchanged).',
    ])
    expect(sink.mails[0]?.subject).toBe('Weekly digest of Alice: no open problems')
  })
})

describe('the members of a workspace', () => {
  it('get a digest of each workspace that they chose, and of no other', async () => {
    const bob = await portreeve.addPerson('Bob')
    const charlie = await portreeve.addPerson('Charlie')
    await createFiller(database.db, alice.id, DUE).host('alice.example', {
      status: 'listed',
      listedCount: 1,
    })
    await createFiller(database.db, bob.id, DUE).host('bob.example', {
      status: 'listed',
      listedCount: 1,
    })
    await insertMembership(database.db, {
      workspaceId: alice.id,
      accountId: bob.id,
      role: 'read-only',
    })
    await subscribe(alice)
    await subscribe(charlie)
    const inAlices = { workspaceId: alice.id, accountId: bob.id }
    await database.db
      .insertInto('digestSubscription')
      .values({
        ...inAlices,
        frequency: 'weekly',
        weekday: 1,
        hour: 8,
        timeZone: 'UTC',
        dueAt: new Date(DUE),
        attemptAt: new Date(DUE),
      })
      .execute()
    await portreeve.run(DUE)
    const texts = Object.fromEntries(
      sink.mails.map(({ to, text }) => [to?.[0]?.address ?? '', text ?? '']),
    )
    expect(Object.keys(texts).toSorted()).toEqual([
      'alice@people.test',
      'bob@people.test',
      'charlie@people.test',
    ])
    expect(texts['alice@people.test']).toContain('alice.example')
    expect(texts['bob@people.test']).toContain('alice.example')
    expect(texts['bob@people.test']).not.toContain('bob.example')
    expect(texts['charlie@people.test']).not.toMatch(/(alice|bob)\.example/)
  })

  it('get nothing after they left, also when they leave while it is being sent', async () => {
    const bob = await portreeve.addPerson('Bob')
    await insertMembership(database.db, {
      workspaceId: alice.id,
      accountId: bob.id,
      role: 'member',
    })
    await insertMembership(database.db, { workspaceId: bob.id, accountId: alice.id, role: 'owner' })
    await subscribe(bob)
    await deleteMembership(database.db, bob.id, bob.id)
    await portreeve.run(DUE)
    expect(sink.mails).toEqual([])
    await subscribe(alice)
    const claimed = await claimDigest(database.db, self(alice), new Date(DUE), 600)
    await insertMembership(database.db, {
      workspaceId: alice.id,
      accountId: bob.id,
      role: 'owner',
    }).catch(() => {})
    await deleteMembership(database.db, alice.id, alice.id)
    const handingOver = handOverDigest(database.db, [claimed as object])
    await expect(handingOver).rejects.toThrow('Another sender has this message.')
  })

  it('get none at an unverified address, and the settings say why', async () => {
    await subscribe(alice)
    await database.db.updateTable('account').set({ emailVerified: false }).execute()
    await portreeve.run(DUE)
    expect(sink.mails).toEqual([])
    expect(await shown(alice)).toMatchObject({
      lastOutcome: 'skipped',
      problem: expect.stringContaining('not verified'),
      nextAt: '2026-11-30T08:00:00.000Z',
    })
  })

  it('get none with a disabled account, or of a deleted workspace', async () => {
    const bob = await portreeve.addPerson('Bob')
    await subscribe(alice)
    await subscribe(bob)
    await database.db
      .updateTable('account')
      .set({ disabledAt: new Date() })
      .where('id', '=', alice.id)
      .execute()
    await database.db
      .updateTable('workspace')
      .set({ deleteAfter: new Date('2027-01-01') })
      .where('id', '=', bob.id)
      .execute()
    await portreeve.run(DUE)
    expect(sink.mails).toEqual([])
  })

  it('of many workspaces take turns', async () => {
    const others = await Promise.all(
      ['Bob', 'Charlie', 'Dora'].map((name) => portreeve.addPerson(name)),
    )
    for (const person of [alice, ...others]) await subscribe(person)
    for (const person of others)
      await insertMembership(database.db, {
        workspaceId: alice.id,
        accountId: person.id,
        role: 'member',
      })
    await database.db
      .insertInto('digestSubscription')
      .values(
        others.map(({ id }) => ({
          workspaceId: alice.id,
          accountId: id,
          frequency: 'daily',
          weekday: 1,
          hour: 8,
          timeZone: 'UTC',
          dueAt: new Date('2026-11-20T08:00:00Z'),
          attemptAt: new Date('2026-11-20T08:00:00Z'),
        })),
      )
      .execute()
    const due = await findDueDigests(portreeve.deps, new Date(DUE))
    const firstOfEach = due.slice(0, 4).map(({ workspaceId }) => workspaceId)
    expect(new Set(firstOfEach).size).toBe(4)
    expect(due).toHaveLength(7)
  })
})

describe('several instances', () => {
  it('send each digest once', async () => {
    const second = await start()
    const people = await Promise.all(
      Array.from({ length: 8 }, (_, index) => portreeve.addPerson(`Person${index}`)),
    )
    for (const person of people) await subscribe(person)
    await Promise.all([portreeve.run(DUE), second.run(DUE), portreeve.run(DUE)])
    expect(sink.mails.map(({ to }) => to?.[0]?.address ?? '').toSorted()).toEqual(
      people.map(({ email }) => email).toSorted(),
    )
  })

  it('send a digest again whose sender died before it handed it over', async () => {
    await subscribe(alice)
    await claimDigest(database.db, self(alice), new Date(DUE), 600)
    await portreeve.run('2026-11-23T08:05:00Z')
    expect(sink.mails).toEqual([])
    await portreeve.run('2026-11-23T08:11:00Z')
    expect(sink.mails).toHaveLength(1)
    expect((await shown(alice)).lastOutcome).toBe('sent')
  })

  it('do not send one whose sender died after it handed it over: it is uncertain', async () => {
    await subscribe(alice)
    const claimed = await claimDigest(database.db, self(alice), new Date(DUE), 600)
    await handOverDigest(database.db, [claimed as object])
    await portreeve.run('2026-11-23T08:11:00Z')
    expect(sink.mails).toEqual([])
    expect(await shown(alice)).toMatchObject({
      lastOutcome: 'uncertain',
      nextAt: '2026-11-30T08:00:00.000Z',
    })
  })
})

describe('a relay', () => {
  it('gets a retry with the same Message-ID after a temporary error', async () => {
    await subscribe(alice)
    sink.behaviour = 'busy'
    await portreeve.run(DUE)
    expect(await shown(alice)).toMatchObject({
      lastOutcome: null,
      lastError: expect.stringContaining('come back later'),
    })
    sink.behaviour = 'taking'
    await portreeve.run('2026-11-23T08:04:59Z')
    expect(sink.mails).toEqual([])
    await portreeve.run('2026-11-23T08:05:00Z')
    expect(sink.mails).toHaveLength(1)
    expect(await shown(alice)).toMatchObject({ lastOutcome: 'sent', lastError: null })
  })

  it('gets no retry after a permanent error, and the next digest covers the period', async () => {
    await subscribe(alice)
    sink.behaviour = 'refusing'
    await portreeve.run(DUE)
    expect(await shown(alice)).toMatchObject({
      lastOutcome: 'failed',
      nextAt: '2026-11-30T08:00:00.000Z',
    })
    sink.behaviour = 'taking'
    await portreeve.run('2026-11-30T08:10:00Z')
    expect(sink.mails).toHaveLength(1)
  })

  it('gets no second copy of an email that it may have accepted', async () => {
    const relay = await startBreakingRelay()
    const breaking = await start({ smtpUrl: relay.url })
    await subscribe(alice)
    await breaking.run(DUE)
    await breaking.run('2026-11-23T09:00:00Z')
    expect(relay.taken()).toBe(1)
    expect((await shown(alice)).lastOutcome).toBe('uncertain')
    await relay.stop()
  })

  it('is missing: nothing is sent, and one digest follows once it is configured', async () => {
    const without = await start({ smtpUrl: '' })
    await subscribe(alice)
    await without.run(DUE)
    const { json } = await without.call<ShownDigest>(alice.token, 'GET', 'digest')
    expect(json.data.problem).toMatch('SMTP_URL')
    await portreeve.run('2026-11-25T12:00:00Z')
    expect(sink.mails).toHaveLength(1)
  })

  it('that stops with the service returns the digest to the queue', async () => {
    await subscribe(alice)
    const stopped = AbortSignal.abort()
    await deliverDigest(portreeve.deps, self(alice), { now: new Date(DUE), signal: stopped })
    expect(sink.mails).toEqual([])
    await portreeve.run(DUE)
    expect(sink.mails).toHaveLength(1)
  })
})
