import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import { insertWorkspace } from '../../src/accounts/workspaces/workspaces.sql.ts'
import { CODE_MAIL_LIMITS, TEST_MAIL_LIMITS } from '../../src/alerts/limits.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { removeEverybody } from '../people.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { startAlerts, type Person, type AlertsTest } from './module.ts'

let database: FreshDatabase
let sink: Sink
let portreeve: AlertsTest
let other: AlertsTest
let alice: Person
let bob: Person

beforeAll(async () => {
  database = await freshDatabase()
  sink = await startSink()
  portreeve = await startAlerts(database.url, { smtpUrl: sink.url, works: false })
  other = await startAlerts(database.url, { smtpUrl: sink.url, works: false })
})
beforeEach(async () => {
  await removeEverybody(database.db)
  sink.mails.length = 0
  alice = await portreeve.addPerson('Alice')
  bob = await portreeve.addPerson('Bob')
})
afterAll(async () => {
  await portreeve.stop()
  await other.stop()
  await sink.stop()
  await database.drop()
})

const VICTIM = 'victim@other.test'

/** Adds a channel and deletes it again. @returns how the addition was answered */
async function addAndDelete(address: string, by = alice, at = portreeve): Promise<number> {
  const { status, json } = await at.call<{ id: string }>(by.token, 'POST', 'alerts/channels', {
    type: 'email',
    address,
  })
  if (status === 201) await at.call(by.token, 'DELETE', `alerts/channels/${json.data.id}`)
  return status
}

/** A second workspace of a person. */
async function addWorkspaceOf(person: Person): Promise<Person> {
  const workspace = { name: 'Second', plan: 'free' as const, createdBy: person.id }
  const { id } = await database.db.transaction().execute((trx) => insertWorkspace(trx, workspace))
  const { token } = await issueToken(database.db, { accountId: person.id, workspaceId: id }, 'test')
  return { ...person, token }
}

/** Moves the sending of all emails a number of seconds into the past. */
const age = (seconds: number) =>
  database.db
    .updateTable('outgoingMail')
    .set({ sentAt: new Date(Date.now() - seconds * 1000) })
    .execute()

const mailsTo = (address: string) => sink.mails.filter(({ to }) => to?.[0]?.address === address)

describe('emails with codes', () => {
  it('go to one address five times a day, over deletions, accounts, spellings and instances', async () => {
    const { count } = CODE_MAIL_LIMITS.recipient
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) {
      const address = i % 3 === 0 ? 'Victim@OTHER.test' : VICTIM
      statuses.push(await addAndDelete(address, i % 2 ? alice : bob, i % 4 < 2 ? portreeve : other))
    }
    expect(statuses).toEqual([
      ...Array<number>(count).fill(201),
      ...Array<number>(12 - count).fill(429),
    ])
    expect(sink.mails).toHaveLength(count)
    await age(86_390)
    expect(await addAndDelete(VICTIM)).toBe(429)
    await age(86_401)
    expect(await addAndDelete(VICTIM)).toBe(201)
  })

  it('over the limit get Retry-After and leave no channel behind', async () => {
    for (let i = 0; i < CODE_MAIL_LIMITS.recipient.count; i++) await addAndDelete(VICTIM)
    await age(3600)
    const answer = await fetch(new URL('/api/v1/alerts/channels', portreeve.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${alice.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'email', address: VICTIM }),
    })
    expect(answer.status).toBe(429)
    const seconds = Number(answer.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(82_000)
    expect(seconds).toBeLessThanOrEqual(82_800)
    expect(await answer.json()).toMatchObject({
      code: 'rate_limited',
      error: expect.stringMatching(
        /5 confirmation codes a day to victim@other\.test.* in \d+ hours/,
      ),
    })
    const { json } = await portreeve.call<{ address: string }[]>(
      alice.token,
      'GET',
      'alerts/channels',
    )
    expect(json.data.map(({ address }) => address)).toEqual([alice.email])
  })

  it('stay within the limit with concurrent requests', async () => {
    const people = await Promise.all(
      Array.from({ length: 12 }, (_, i) => portreeve.addPerson(`Person${i}`)),
    )
    await Promise.all(
      people.map((person, i) => addAndDelete(VICTIM, person, i % 2 ? portreeve : other)),
    )
    expect(mailsTo(VICTIM)).toHaveLength(CODE_MAIL_LIMITS.recipient.count)
  })

  it('are limited to twenty a day per account', async () => {
    const { count } = CODE_MAIL_LIMITS.sender
    const statuses: number[] = []
    for (let i = 0; i < count + 3; i++)
      statuses.push(await addAndDelete(`person${i}@other.test`, alice, portreeve))
    expect(statuses).toEqual([...Array<number>(count).fill(201), 429, 429, 429])
    const another = await addWorkspaceOf(alice)
    expect(await addAndDelete('person98@other.test', another)).toBe(429)
    expect(await addAndDelete('person99@other.test', bob)).toBe(201)
  })

  it('stay counted when the account is erased', async () => {
    for (let i = 0; i < CODE_MAIL_LIMITS.recipient.count; i++) await addAndDelete(VICTIM)
    await database.db.deleteFrom('account').where('id', '=', alice.id).execute()
    expect(await addAndDelete(VICTIM, bob)).toBe(429)
  })

  it('hold an installation to its limit', async () => {
    const { count } = CODE_MAIL_LIMITS.installation
    const rows = Array.from({ length: count }, (_, i) => ({
      kind: 'alert-code',
      recipient: Buffer.from(`${i}`),
    }))
    await database.db.insertInto('outgoingMail').values(rows).execute()
    expect(await addAndDelete(VICTIM)).toBe(429)
    await age(3601)
    expect(await addAndDelete(VICTIM)).toBe(201)
  })

  it('store no readable address', async () => {
    await addAndDelete(VICTIM)
    const [row] = await database.db.selectFrom('outgoingMail').select('recipient').execute()
    expect(row?.recipient).toHaveLength(32)
    expect(row?.recipient.toString()).not.toContain('victim')
  })

  it('count together with requested ones', async () => {
    const { json } = await portreeve.call<{ id: string }>(alice.token, 'POST', 'alerts/channels', {
      type: 'email',
      address: VICTIM,
    })
    const statuses: number[] = []
    for (let i = 0; i < 6; i++) {
      await database.db
        .updateTable('alertChannel')
        .set({ codeSentAt: new Date(0) })
        .execute()
      statuses.push(
        (await portreeve.call(alice.token, 'POST', `alerts/channels/${json.data.id}/code`)).status,
      )
    }
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429])
    expect(mailsTo(VICTIM)).toHaveLength(5)
  })
})

describe('tests', () => {
  it('go to one address ten times an hour', async () => {
    const { json } = await portreeve.call<{ id: string }[]>(alice.token, 'GET', 'alerts/channels')
    const { count } = TEST_MAIL_LIMITS.recipient
    const statuses: number[] = []
    for (let i = 0; i < count + 2; i++) {
      statuses.push(
        (await portreeve.call(alice.token, 'POST', `alerts/channels/${json.data[0]?.id}/test`))
          .status,
      )
    }
    expect(statuses).toEqual([...Array<number>(count).fill(200), 429, 429])
  })
})

describe('an address that was only claimed at sign-up', () => {
  beforeEach(async () => {
    await database.db
      .updateTable('account')
      .set({ emailVerified: false })
      .where('id', '=', alice.id)
      .execute()
  })

  const channels = async () =>
    (
      await portreeve.call<{ id: string; address: string; status: string }[]>(
        alice.token,
        'GET',
        'alerts/channels',
      )
    ).json.data

  it('gets no alert before its code is entered', async () => {
    expect(await channels()).toMatchObject([{ address: alice.email, status: 'unconfirmed' }])
    const [first] = await channels()
    expect(
      (await portreeve.call(alice.token, 'POST', `alerts/channels/${first?.id}/test`)).status,
    ).toBe(409)
    await portreeve.raise(alice.id, 'one.test')
    const waiting = await database.db.selectFrom('alertMessage').select('id').execute()
    expect(waiting).toEqual([])
    expect(
      (await portreeve.call(alice.token, 'POST', `alerts/channels/${first?.id}/code`)).status,
    ).toBe(200)
    const code = /this code there: (\d{8})/.exec(sink.mails[0]?.text ?? '')?.[1]
    await portreeve.call(alice.token, 'POST', `alerts/channels/${first?.id}/confirm`, { code })
    expect(await channels()).toMatchObject([{ status: 'active' }])
  })

  it('is not confirmed by deleting and adding its channel', async () => {
    const [first] = await channels()
    await portreeve.call(alice.token, 'DELETE', `alerts/channels/${first?.id}`)
    const { json } = await portreeve.call(alice.token, 'POST', 'alerts/channels', {
      type: 'email',
      address: alice.email,
    })
    expect(json.data).toMatchObject({ status: 'unconfirmed' })
    expect(sink.mails).toHaveLength(1)
  })
})
