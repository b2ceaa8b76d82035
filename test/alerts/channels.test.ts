import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { removeEverybody } from '../people.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { aWhile, startAlerts, until, type Person, type AlertsTest } from './module.ts'

type Channel = {
  id: string
  type: string
  address: string | null
  status: string
  problem: string | null
  secret?: string
}

let database: FreshDatabase
let sink: Sink
let portreeve: AlertsTest
let alice: Person
let charlie: Person

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
  portreeve = await startAlerts(database.url, { smtpUrl: sink.url })
  alice = await portreeve.addPerson('Alice')
  charlie = await portreeve.addPerson('Charlie')
})
afterEach(async () => {
  await portreeve.stop()
  await removeEverybody(database.db)
})

const call = <T = Channel>(method: string, path: string, body?: object, person = alice) =>
  portreeve.call<T>(person.token, method, `alerts/${path}`, body)

async function add(body: object): Promise<Channel> {
  const { status, json } = await call('POST', 'channels', body)
  expect(status, json.error).toBe(201)
  return json.data
}

const codeIn = (text = '') => /this code there: (\d{8})/.exec(text)?.[1] ?? ''

describe('the channels of an account', () => {
  it('hide the paths of webhooks from members who may only read', async () => {
    const url = 'https://chat.example/hooks/secret-of-the-room'
    await add({ type: 'webhook', url })
    const erin = await portreeve.addPerson('Erin')
    await database.db
      .insertInto('membership')
      .values({ workspaceId: alice.id, accountId: erin.id, role: 'read-only' })
      .execute()
    await database.db
      .updateTable('apiToken')
      .set({ workspaceId: alice.id })
      .where('accountId', '=', erin.id)
      .execute()
    const seen = await call<Channel[]>('GET', 'channels', undefined, erin)
    expect(seen.json.data).toMatchObject([
      { address: 'alice@people.test' },
      { url: 'https://chat.example/…' },
    ])
    expect(JSON.stringify(seen.json)).not.toContain('secret-of-the-room')
    const own = await call<Channel[]>('GET', 'channels')
    expect(own.json.data).toMatchObject([{}, { url }])
  })

  it('start with its own address, which stays deleted', async () => {
    const { json } = await call<Channel[]>('GET', 'channels')
    expect(json.data).toMatchObject([
      { type: 'email', address: 'alice@people.test', status: 'active', problem: null },
    ])
    expect((await call('DELETE', `channels/${json.data[0]?.id}`)).status).toBe(200)
    expect((await call<Channel[]>('GET', 'channels')).json.data).toEqual([])
    await portreeve.raise(alice.id, 'one.test')
    await aWhile()
    expect(sink.mails).toEqual([])
  })

  it('send nothing to another address before its code is entered', async () => {
    const channel = await add({ type: 'email', address: 'Bob@Other.TEST' })
    expect(channel).toMatchObject({ address: 'Bob@other.test', status: 'unconfirmed' })
    await portreeve.raise(alice.id, 'one.test')
    const mails = await until(
      () => sink.mails,
      (all) => all.length >= 2,
    )
    await aWhile()
    const toBob = mails.filter(({ to }) => to?.[0]?.address === 'Bob@other.test')
    expect(toBob).toHaveLength(1)
    const code = codeIn(toBob[0]?.text)
    expect(
      (await call('POST', `channels/${channel.id}/confirm`, { code: '00000000' })).status,
    ).toBe(400)
    expect((await call('POST', `channels/${channel.id}/confirm`, { code })).json.data.status).toBe(
      'active',
    )
    await portreeve.raise(alice.id, 'two.test')
    await until(
      () => sink.mails.map(({ to, subject }) => `${to?.[0]?.address} ${subject}`),
      (all) => all.includes('Bob@other.test two.test is listed'),
    )
  })

  it('limit attempts at a code and emails to a stranger', async () => {
    const channel = await add({ type: 'email', address: 'bob@other.test' })
    const code = codeIn(sink.mails[0]?.text)
    const wrong = code === '11111111' ? '22222222' : '11111111'
    for (let guess = 0; guess < 5; guess++)
      await call('POST', `channels/${channel.id}/confirm`, { code: wrong })
    expect((await call('POST', `channels/${channel.id}/confirm`, { code })).status).toBe(400)
    expect((await call('POST', `channels/${channel.id}/code`)).status).toBe(429)
    expect(sink.mails).toHaveLength(1)
    await portreeve.db
      .updateTable('alertChannel')
      .set({ codeSentAt: new Date(0) })
      .execute()
    expect((await call('POST', `channels/${channel.id}/code`)).status).toBe(200)
    const next = codeIn(sink.mails[1]?.text)
    expect(
      (await call('POST', `channels/${channel.id}/confirm`, { code: next })).json.data.status,
    ).toBe('active')
  })

  it('exist when the code email failed, and show the problem until a new one was sent', async () => {
    sink.behaviour = 'busy'
    const channel = await add({ type: 'email', address: 'bob@other.test' })
    const unsent = { status: 'unconfirmed', problem: expect.stringContaining('come back later') }
    expect(channel).toMatchObject(unsent)
    const listed = async () =>
      (await call<Channel[]>('GET', 'channels')).json.data.find(({ id }) => id === channel.id)
    expect(await listed()).toMatchObject(unsent)
    const aMinutePasses = () =>
      portreeve.db
        .updateTable('alertChannel')
        .set({ codeSentAt: new Date(0) })
        .execute()
    await aMinutePasses()
    expect((await call('POST', `channels/${channel.id}/code`)).status).toBe(502)
    await aMinutePasses()
    sink.behaviour = 'taking'
    expect((await call('POST', `channels/${channel.id}/code`)).status).toBe(200)
    expect(await listed()).toMatchObject({ status: 'unconfirmed', problem: null })
    const code = codeIn(sink.mails[0]?.text)
    expect((await call('POST', `channels/${channel.id}/confirm`, { code })).json.data.status).toBe(
      'active',
    )
  })

  it('send a test at once, and respond with the error', async () => {
    const { json } = await call<Channel[]>('GET', 'channels')
    const path = `channels/${json.data[0]?.id}/test`
    expect((await call('POST', path)).status).toBe(200)
    expect(sink.mails.map(({ subject }) => subject)).toEqual(['Test alert'])
    sink.behaviour = 'refusing'
    const refused = await call('POST', path)
    expect([refused.status, refused.json.code]).toEqual([422, 'upstream_rejected'])
    expect(refused.json.error).toMatch('go away')
  })

  it.each([
    [{ type: 'email', address: 'nobody' }, 'address'],
    [{ type: 'email', address: 'a@b.test, c@d.test' }, 'address'],
    [{ type: 'email', address: 'a\r\nb@c.test' }, 'address'],
    [{ type: 'webhook', url: 'ftp://a.test/' }, 'url'],
    [{ type: 'webhook', url: 'https://user:pass@a.test/' }, 'url'],
    [
      {
        type: 'email',
        address: 'a@b.test',
        quietHours: { from: '22:00', to: '07:00', timeZone: 'Mars/Olympus' },
      },
      'quietHours.timeZone',
    ],
  ])('are refused when they cannot be: %j', async (body, path) => {
    const { status, json } = await call('POST', 'channels', body)
    expect([status, json.code]).toEqual([400, 'invalid_request'])
    expect((json as unknown as { details: { path: string }[] }).details[0]?.path).toBe(path)
    expect(sink.mails).toEqual([])
  })

  it('exist once each', async () => {
    await add({ type: 'webhook', url: 'https://chat.test/hook' })
    expect(
      (await call('POST', 'channels', { type: 'webhook', url: 'https://chat.test/hook' })).status,
    ).toBe(409)
  })

  it('exist once per email address in any case', async () => {
    expect(
      (await call('POST', 'channels', { type: 'email', address: 'ALICE@People.test' })).status,
    ).toBe(409)
    const spellings = ['bob@other.test', 'Bob@other.test', 'BOB@OTHER.TEST'].map((address) =>
      call('POST', 'channels', { type: 'email', address }),
    )
    const statuses = (await Promise.all(spellings)).map(({ status }) => status)
    expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 409, 409])
    await add({ type: 'webhook', url: 'https://chat.test/hook' })
    await add({ type: 'webhook', url: 'https://chat.test/HOOK' })
  })

  it('show a secret only at their creation', async () => {
    const { secret, id } = await add({ type: 'webhook', url: 'https://chat.test/hook' })
    expect(secret).toMatch(/^whsec_/)
    const answers = [
      await call('GET', 'channels'),
      await call('PATCH', `channels/${id}`, { label: 'chat' }),
    ]
    expect(JSON.stringify(answers)).not.toContain('whsec_')
    const row = await portreeve.db
      .selectFrom('alertChannel')
      .select('secret')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row.secret).not.toContain(secret?.slice(6))
  })

  it('and alerts are visible to their own account only', async () => {
    const { id } = await add({ type: 'webhook', url: 'https://chat.test/hook' })
    await portreeve.raise(alice.id, 'one.test')
    const asCharlie = (method: string, path: string, body?: object) =>
      call(method, path, body, charlie)
    const answers = await Promise.all([
      asCharlie('PATCH', `channels/${id}`, { label: 'mine' }),
      asCharlie('DELETE', `channels/${id}`),
      asCharlie('POST', `channels/${id}/test`),
      asCharlie('POST', `channels/${id}/code`),
      asCharlie('POST', `channels/${id}/confirm`, { code: '1' }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
    const alerts = await portreeve.call<{ alerts: object[] }>(charlie.token, 'GET', 'alerts')
    expect(alerts.json.data.alerts).toEqual([])
    const channels = await call<Channel[]>('GET', 'channels', undefined, charlie)
    expect(channels.json.data.map(({ address }) => address)).toEqual(['charlie@people.test'])
    expect((await portreeve.call('no token', 'GET', 'alerts')).status).toBe(401)
  })
})

describe('the list of alerts', () => {
  it('has pages, newest first, and can be filtered by kind or its first word', async () => {
    for (const name of ['a', 'b', 'c']) await portreeve.raise(alice.id, name)
    await portreeve.raise(alice.id, 'd', { kind: 'certificate.expired' })
    type Page = { alerts: { title: string }[]; pagination: object }
    const read = async (query: string) =>
      (await portreeve.call<Page>(alice.token, 'GET', `alerts?${query}`)).json.data
    const titles = async (query: string) => (await read(query)).alerts.map(({ title }) => title[0])
    expect(await titles('limit=2')).toEqual(['d', 'c'])
    expect(await titles('limit=2&page=2')).toEqual(['b', 'a'])
    expect((await read('limit=2')).pagination).toEqual({ page: 1, total: 4, totalPages: 2 })
    expect(await titles('kind=certificate')).toEqual(['d'])
    expect(await titles('kind=blacklist.listed')).toEqual(['c', 'b', 'a'])
    expect((await portreeve.call(alice.token, 'GET', 'alerts?limit=101')).status).toBe(400)
  })
})
