import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { checkSignature } from '../../src/protocols/webhook-signature.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { removeEverybody } from '../people.ts'
import { startReceiver, status, type Received, type Receiver } from '../servers/receiver.ts'
import {
  aWhile,
  LINK,
  startAlerts,
  until,
  type Person,
  type AlertsTest,
  type AlertsTestOptions,
} from './module.ts'

type Channel = { id: string; status: string; problem: string | null; secret: string; url: string }

let database: FreshDatabase
let receiver: Receiver
let portreeve: AlertsTest
let alice: Person

beforeAll(async () => void (database = await freshDatabase()))
afterAll(() => database.drop())
beforeEach(async () => {
  receiver = await startReceiver(status(204))
})
afterEach(async () => {
  await portreeve.stop()
  await receiver.close()
  await removeEverybody(database.db)
})

async function open(options: AlertsTestOptions = {}): Promise<Channel> {
  portreeve = await startAlerts(database.url, options)
  alice = await portreeve.addPerson('Alice')
  const { json, status: code } = await portreeve.call<Channel>(
    alice.token,
    'POST',
    'alerts/channels',
    {
      type: 'webhook',
      url: `${receiver.origin}/hook?portreeve=7`,
    },
  )
  expect(code, json.error).toBe(201)
  return json.data
}

const requests = (count: number) =>
  until(
    () => receiver.received,
    (all) => all.length >= count,
  )

async function stateOf({ id }: Channel): Promise<Channel> {
  const { json } = await portreeve.call<Channel[]>(alice.token, 'GET', 'alerts/channels')
  return json.data.find((channel) => channel.id === id) as Channel
}

function verdictOn({ headers, body }: Received, secret: string) {
  const signed = {
    headers: Object.entries(headers) as [string, string][],
    body: Buffer.from(body),
    truncated: false,
  }
  return checkSignature({ scheme: 'standard' }, secret, { ...signed, receivedAt: new Date() })
    .status
}

describe('a webhook channel', () => {
  it('gets each alert in its own request, signed as in Standard Webhooks', async () => {
    const { secret } = await open()
    await portreeve.raise(alice.id, 'one.test')
    await portreeve.raise(alice.id, 'two.test', { kind: 'blacklist.cleared' })
    const all = await requests(2)
    expect(all.map(({ path }) => path)).toEqual(['/hook?portreeve=7', '/hook?portreeve=7'])
    expect(all.map((one) => verdictOn(one, secret))).toEqual(['valid', 'valid'])
    const bodies = all.map(
      ({ body }) => JSON.parse(body) as { type: string; data: { title: string } },
    )
    expect(bodies.toSorted((a, b) => a.data.title.localeCompare(b.data.title))).toMatchObject([
      {
        type: 'blacklist.listed',
        timestamp: '2026-11-21T12:00:00.000Z',
        data: {
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          title: 'one.test is listed',
          text: expect.stringMatching('spam'),
          nextStep: 'Ask for removal.',
          url: `${LINK}?workspace=${alice.id}`,
        },
      },
      { type: 'blacklist.cleared', data: { title: 'two.test is listed' } },
    ])
  })

  it('retries with the same ID and a new signature, and then stops', async () => {
    const channel = await open()
    receiver.answerWith(status(500))
    await portreeve.raise(alice.id, 'one.test')
    await until(
      () => stateOf(channel),
      ({ problem }) => problem !== null,
    )
    expect((await stateOf(channel)).problem).toMatch('500')
    receiver.answerWith(status(200))
    await portreeve.db.updateTable('alertMessage').set({ dueAt: new Date() }).execute()
    const [first, second] = await requests(2)
    await until(
      () => stateOf(channel),
      ({ problem }) => problem === null,
    )
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    expect(verdictOn(second as Received, channel.secret)).toBe('valid')
    await aWhile()
    expect(receiver.received).toHaveLength(2)
  })

  it('increases the delay between retries', async () => {
    await open()
    receiver.answerWith(status(503))
    await portreeve.raise(alice.id, 'one.test')
    const waits: number[] = []
    for (let attempt = 1; attempt <= 3; attempt++) {
      await requests(attempt)
      const row = await until(
        () =>
          portreeve.db
            .selectFrom('alertMessage')
            .select(['dueAt', 'attempts', 'state'])
            .where('error', 'like', '%503%')
            .executeTakeFirst(),
        (found) => found?.attempts === attempt && found.state === 'waiting',
      )
      waits.push(Math.round(((row?.dueAt.getTime() ?? 0) - Date.now()) / 1000))
      await portreeve.db.updateTable('alertMessage').set({ dueAt: new Date() }).execute()
    }
    expect(waits.map((wait) => Math.round(wait / 5) * 5)).toEqual([5, 300, 1800])
  })

  it('is disabled after a week of failures with an alert on other channels, and can be turned on again', async () => {
    const channel = await open()
    const other = await startReceiver(status(200))
    await portreeve.call(alice.token, 'POST', 'alerts/channels', {
      type: 'webhook',
      url: `${other.origin}/other`,
    })
    receiver.answerWith(status(500))
    const weekAgo = new Date(Date.now() - 8 * 86_400_000)
    await portreeve.db
      .updateTable('alertChannel')
      .set({ failingSince: weekAgo })
      .where('id', '=', channel.id)
      .execute()
    await portreeve.raise(alice.id, 'one.test')
    const off = await until(
      () => stateOf(channel),
      (one) => one.status === 'disabled',
    )
    expect(off.problem).toMatch(/failed for a week.*500/)
    const told = await until(
      () => other.received,
      (all) => all.length >= 2,
    )
    const types = told.map(({ body }) => (JSON.parse(body) as { type: string }).type)
    expect(types.toSorted()).toEqual(['blacklist.listed', 'channel.disabled'])
    await other.close()
    receiver.answerWith(status(200))
    const before = receiver.received.length
    await portreeve.raise(alice.id, 'two.test')
    await aWhile()
    expect(receiver.received).toHaveLength(before)
    await portreeve.call(alice.token, 'PATCH', `alerts/channels/${channel.id}`, { enabled: true })
    await portreeve.raise(alice.id, 'three.test')
    await requests(before + 1)
    expect((await stateOf(channel)).status).toBe('active')
  })

  it('is disabled at once after a 410 response', async () => {
    const channel = await open()
    receiver.answerWith(status(410))
    await portreeve.raise(alice.id, 'one.test')
    const off = await until(
      () => stateOf(channel),
      (one) => one.status === 'disabled',
    )
    expect(off.problem).toMatch('410')
  })

  it('does not follow a redirect', async () => {
    const channel = await open()
    receiver.answerWith(status(302, '', { location: '/elsewhere' }))
    const { status: code, json } = await portreeve.call(
      alice.token,
      'POST',
      `alerts/channels/${channel.id}/test`,
    )
    expect([code, json.code]).toEqual([422, 'upstream_rejected'])
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook?portreeve=7'])
  })

  it('cannot lead to a private address, also by its name', async () => {
    portreeve = await startAlerts(database.url, { env: { ALLOW_PRIVATE_TARGETS: 'false' } })
    alice = await portreeve.addPerson('Alice')
    const create = (url: string) =>
      portreeve.call<Channel>(alice.token, 'POST', 'alerts/channels', { type: 'webhook', url })
    expect((await create(`${receiver.origin}/hook`)).json.code).toBe('target_not_allowed')
    const named = await create(`http://localhost:${new URL(receiver.origin).port}/hook`)
    const tested = await portreeve.call(
      alice.token,
      'POST',
      `alerts/channels/${named.json.data.id}/test`,
    )
    expect([tested.status, tested.json.code]).toEqual([403, 'target_not_allowed'])
    expect(receiver.received).toEqual([])
  })

  it('gets only its selected kinds', async () => {
    const channel = await open()
    await portreeve.call(alice.token, 'PATCH', `alerts/channels/${channel.id}`, {
      kinds: ['certificate'],
    })
    await portreeve.raise(alice.id, 'one.test')
    await portreeve.raise(alice.id, 'two.test', { kind: 'certificate.expired' })
    const [only] = await requests(1)
    await aWhile()
    expect(receiver.received).toHaveLength(1)
    expect(only?.body).toContain('two.test')
  })
})
