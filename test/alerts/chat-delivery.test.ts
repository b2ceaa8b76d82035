import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { raiseAlert } from '../../src/alerts/raise.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { removeEverybody } from '../people.ts'
import { startAlertService, type AlertService } from '../servers/alert-service.ts'
import { startReceiver, status } from '../servers/receiver.ts'
import {
  AT_ONCE,
  aWhile,
  startAlerts,
  until,
  type AlertsTest,
  type AlertsTestOptions,
  type Person,
} from './module.ts'

let database: FreshDatabase
let discord: AlertService
let instances: AlertsTest[]
let alice: Person

beforeAll(async () => void (database = await freshDatabase()))
afterAll(() => database.drop())
beforeEach(async () => {
  discord = await startAlertService('discord')
  instances = []
})
afterEach(async () => {
  for (const instance of instances) await instance.stop()
  await discord.close()
  await removeEverybody(database.db)
})

async function start(options: AlertsTestOptions = {}): Promise<AlertsTest> {
  const instance = await startAlerts(database.url, { origins: discord.origins, ...options })
  instances.push(instance)
  return instance
}

type Channel = { id: string; status: string; problem: string | null }

/** An instance with Alice and her Discord channel. */
async function startWithChannel(options: AlertsTestOptions = {}) {
  const portreeve = await start(options)
  alice = await portreeve.addPerson('Alice')
  const body = { type: 'discord', settings: discord.settings }
  const { json, status: code } = await portreeve.call<Channel>(
    alice.token,
    'POST',
    'alerts/channels',
    body,
  )
  expect(code, json.error).toBe(201)
  const { id } = json.data
  const messages = () =>
    portreeve.db.selectFrom('alertMessage').selectAll().where('channelId', '=', id).execute()
  const channelNow = async () => {
    const all = await portreeve.call<Channel[]>(alice.token, 'GET', 'alerts/channels')
    return all.json.data.find((channel) => channel.id === id) as Channel
  }
  return { portreeve, id, messages, channelNow }
}

type Message = { embeds: [{ title: string }] }
const titles = () => discord.calls.map(({ json }) => (json as Message).embeds[0].title)

const DEAD = { status: 404, body: { code: 10_015, message: 'Unknown Webhook' } }

function raiseResolved(portreeve: AlertsTest, name: string) {
  return portreeve.raise(alice.id, name, {
    key: `${name} ended`,
    phase: 'resolved',
    severity: 'info',
    title: `${name} is off the list`,
  })
}

describe('a chat channel', () => {
  it('gets 1,000 alerts of 50 objects as one readable message, with several instances', async () => {
    const { portreeve, messages } = await startWithChannel()
    await start()
    await portreeve.db.transaction().execute(async (trx) => {
      for (let n = 0; n < 1_000; n++)
        await raiseAlert(trx, {
          workspaceId: alice.id,
          kind: 'blacklist.listed',
          key: `alert ${n}`,
          incident: `blacklist/host-${n % 50}`,
          phase: 'open',
          severity: 'error',
          title: `host-${n % 50} is listed`,
          text: 'Listed.',
          nextStep: '',
          path: '/monitoring',
          at: new Date(),
        })
    })
    await until(messages, (all) => all.every(({ state }) => state === 'sent'), 60)
    await aWhile()
    expect(titles()).toEqual(['1000 alerts'])
    // One line for each object, as many as are readable.
    const lines = discord.shown[0]?.split('\n') ?? []
    expect(lines.slice(1, 3)).toEqual([
      '• host-0 is listed (20 times)',
      '• host-1 is listed (20 times)',
    ])
    expect(lines.filter((line) => line.startsWith('•'))).toHaveLength(20)
    expect(lines.join()).toContain('And 600 more in the dashboard.')
    expect(discord.violations).toEqual([])
  }, 240_000)

  it('gets each of a few alerts once, in their order, from several instances', async () => {
    const batching = { ...AT_ONCE, burstHoldMs: 300 }
    const { portreeve, messages } = await startWithChannel({ batching })
    await start({ batching })
    await start({ batching })
    const names = ['one', 'two', 'three', 'four']
    for (const name of names) await portreeve.raise(alice.id, name)
    await until(
      messages,
      (all) => all.length === 4 && all.every(({ state }) => state === 'sent'),
      30,
    )
    await aWhile()
    expect(titles()).toEqual(names.map((name) => `${name} is listed`))
  })

  it('gets neither the beginning nor the end of a problem that ended before it was sent', async () => {
    const batching = { ...AT_ONCE, burstHoldMs: 1_000 }
    const { portreeve, messages } = await startWithChannel({ batching })
    await portreeve.raise(alice.id, 'one')
    await raiseResolved(portreeve, 'one')
    await until(messages, (all) => all.length > 0 && all.every(({ endedAt }) => endedAt !== null))
    expect(titles()).toEqual([])
    const { json } = await portreeve.call<{
      alerts: { deliveries: { type: string; status: string }[] }[]
    }>(alice.token, 'GET', 'alerts')
    const deliveries = json.data.alerts.flatMap((alert) => alert.deliveries)
    const inChat = deliveries.filter(({ type }) => type === 'discord')
    expect(inChat.map((delivery) => delivery.status)).toEqual(['dropped', 'dropped'])
  })

  it('gets the end only where it got the beginning', async () => {
    const { portreeve, id, messages } = await startWithChannel()
    await portreeve.call(alice.token, 'PATCH', `alerts/channels/${id}`, { minSeverity: 'critical' })
    await portreeve.raise(alice.id, 'minor')
    await raiseResolved(portreeve, 'minor')
    await portreeve.raise(alice.id, 'major', { severity: 'critical' })
    await until(messages, ([first]) => first?.state === 'sent')
    await raiseResolved(portreeve, 'major')
    await until(messages, (all) => all.length === 2 && all.every(({ state }) => state === 'sent'))
    // The end is a message of its own, and the first one is edited.
    await until(titles, (all) => all.length === 3)
    expect(titles()).toEqual(['major is listed', 'major is off the list', 'major is off the list'])
    expect(discord.calls.map(({ method }) => method)).toEqual(['POST', 'POST', 'PATCH'])
  })

  it('leaves its deliveries with its name when it is deleted, and what waits has failed', async () => {
    const { portreeve, id, messages } = await startWithChannel()
    await portreeve.call(alice.token, 'PATCH', `alerts/channels/${id}`, { label: '#ops' })
    await portreeve.raise(alice.id, 'one')
    await until(messages, ([first]) => first?.state === 'sent')
    discord.respond({ status: 503 })
    await portreeve.raise(alice.id, 'two')
    await until(messages, (all) => all.some(({ error }) => error !== null))
    await portreeve.call(alice.token, 'DELETE', `alerts/channels/${id}`)
    const { json } = await portreeve.call<{
      alerts: { deliveries: { channelId: string; channel: string; status: string }[] }[]
    }>(alice.token, 'GET', 'alerts')
    const named = { channelId: null, channel: '#ops (Discord)', type: 'discord' }
    const [two, one] = json.data.alerts.map(({ deliveries }) =>
      deliveries.find(({ channelId }) => channelId === null),
    )
    expect(one).toMatchObject({ ...named, status: 'sent', error: null })
    expect(two).toMatchObject({ ...named, status: 'failed', error: 'The channel was deleted.' })
    await portreeve.raise(alice.id, 'three')
    // With its workspace, nothing is left.
    await portreeve.db.deleteFrom('workspace').where('id', '=', alice.id).execute()
    expect(await portreeve.db.selectFrom('alertMessage').select('id').execute()).toEqual([])
  })

  it('is turned off when its settings are dead twice, with an alert on other channels', async () => {
    const { portreeve, messages, channelNow } = await startWithChannel()
    const other = await startReceiver(status(204))
    const url = `${other.origin}/hook`
    await portreeve.call(alice.token, 'POST', 'alerts/channels', { type: 'webhook', url })
    discord.respond(DEAD)
    await portreeve.raise(alice.id, 'one')
    await until(messages, ([first]) => first?.error !== null && first?.state === 'waiting')
    expect(await channelNow()).toMatchObject({ status: 'active' })
    await portreeve.db.updateTable('alertMessage').set({ dueAt: new Date() }).execute()
    await portreeve.db.updateTable('alertChannel').set({ retryAt: null }).execute()
    const off = await until(channelNow, (channel) => channel.status === 'disabled')
    expect(off.problem).toMatch(/no longer accepts these settings.*Unknown Webhook/)
    const told = await until(
      () => other.received.map(({ body }) => body),
      (all) => all.some((body) => body.includes('channel.disabled')),
    )
    expect(told.join(' ')).not.toContain(new URL(discord.settings['url'] ?? '').pathname)
    await other.close()
  })

  it('counts the alerts that it missed while the service was away for longer than a day', async () => {
    const { portreeve, messages } = await startWithChannel()
    discord.respond({ status: 503 })
    await portreeve.raise(alice.id, 'one')
    await until(messages, ([first]) => first?.error !== null && first?.state === 'waiting')
    await portreeve.db
      .updateTable('alertMessage')
      .set({ createdAt: new Date(Date.now() - 25 * 3_600_000), dueAt: new Date() })
      .execute()
    await portreeve.db.updateTable('alertChannel').set({ retryAt: null }).execute()
    const [failed] = await until(messages, (all) => all.length === 2)
    expect(failed).toMatchObject({ state: 'failed' })
    expect(failed?.error).toMatch(/^Given up after 25 hours/)
    discord.respond(null)
    await portreeve.db
      .updateTable('alertMessage')
      .set({ dueAt: new Date() })
      .where('state', '=', 'waiting')
      .execute()
    await portreeve.db.updateTable('alertChannel').set({ retryAt: null }).execute()
    await until(messages, (all) => all.some(({ state }) => state === 'sent'))
    expect(titles().at(-1)).toBe('1 alert could not be sent here')
  })

  it('ends as uncertain where a sender died after it handed a message over', async () => {
    const { portreeve, messages } = await startWithChannel({ works: false })
    await portreeve.raise(alice.id, 'one')
    await portreeve.db
      .updateTable('alertMessage')
      .set({ state: 'handed-over', attempts: 1, claimedUntil: new Date(Date.now() - 1_000) })
      .execute()
    await start()
    await until(messages, ([first]) => first?.state === 'uncertain')
    expect(titles()).toEqual([])
  })

  it('answers a test with the words of the service, for the beginning and the end', async () => {
    const { portreeve, id } = await startWithChannel()
    const test = () =>
      portreeve.call<{ responses: string[] }>(alice.token, 'POST', `alerts/channels/${id}/test`)
    expect((await test()).json.data.responses).toHaveLength(2)
    discord.respond(DEAD)
    const { status: code, json } = await test()
    expect([code, json.code]).toEqual([422, 'upstream_rejected'])
    expect(json.error).toMatch('Unknown Webhook')
  })
})
