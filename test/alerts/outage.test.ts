import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { CONTRACTS, startAlertService, type AlertService } from '../servers/alert-service.ts'
import { startReceiver, status, type OnStep, type Receiver } from '../servers/receiver.ts'
import { aWhile, startAlerts, until, type AlertsTest, type Person } from './module.ts'

const TYPES = Object.keys(CONTRACTS)

/** Requests that each service allows in so many seconds, as it documents; see the docs of the types. */
const DOCUMENTED: Record<string, { requests: number; seconds: number }> = {
  discord: { requests: 30, seconds: 60 },
  'google-chat': { requests: 60, seconds: 60 },
  ntfy: { requests: 60, seconds: 1 },
  pagerduty: { requests: 120, seconds: 60 },
  slack: { requests: 60, seconds: 60 },
  teams: { requests: 240, seconds: 60 },
  telegram: { requests: 20, seconds: 60 },
}

/** Requests of each service whose times are compared with that. */
const MEASURED_REQUESTS = 25

let database: FreshDatabase
let services: Map<string, AlertService>
let receiver: Receiver
let portreeve: AlertsTest
let alice: Person
/** Seconds that `pass` has added to the clock, and when each service got a request. */
let passed = 0
const times = new Map<string, number[]>()

beforeAll(async () => {
  database = await freshDatabase()
  receiver = await startReceiver(status(204))
  services = new Map(
    await Promise.all(
      TYPES.map(async (type) => [type, await startAlertService(type, timing(type))] as const),
    ),
  )
  const origins = new Map([...services.values()].flatMap((service) => [...service.origins]))
  portreeve = await startAlerts(database.url, { origins })
  alice = await portreeve.addPerson('Alice')
  const add = async (body: object) => {
    const answer = await portreeve.call<{ id: string }>(
      alice.token,
      'POST',
      'alerts/channels',
      body,
    )
    expect(answer.status, answer.json.error).toBe(201)
    return answer.json.data.id
  }
  for (const [type, { settings }] of services) await add({ type, settings })
  await add({ type: 'webhook', url: `${receiver.origin}/hook` })
})
afterAll(async () => {
  await portreeve.stop()
  await Promise.all([...services.values()].map((service) => service.close()))
  await receiver.close()
  await database.drop()
})

const timing =
  (type: string): OnStep =>
  (step) => {
    if (step !== 'received') return
    times.set(type, [...(times.get(type) ?? []), passed + performance.now() / 1_000])
  }

/** Lets time pass: everything stored moves back instead. */
async function pass(seconds: number): Promise<void> {
  passed += seconds
  const back = `- interval '${seconds} seconds'`
  await database.pool.query(
    `update alert_message set created_at = created_at ${back}, due_at = due_at ${back} where ended_at is null`,
  )
  await database.pool.query(
    `update alert_channel set retry_at = retry_at ${back}, tokens_at = tokens_at ${back}, failing_since = failing_since ${back}`,
  )
}

const openMessages = async () => {
  const { rows } = await database.pool.query<{ type: string; state: string; isDue: boolean }>(
    `select c.type, m.state, m.due_at <= now() and coalesce(c.retry_at, '-infinity') <= now() as "isDue"
     from alert_message m join alert_channel c on c.id = m.channel_id where m.ended_at is null and c.type <> 'email'`,
  )
  return rows
}

/** Waits until everything that is due was attempted. */
const attempted = () =>
  until(openMessages, (all) => all.every(({ state, isDue }) => state === 'waiting' && !isDue), 30)

const callsOf = (type: string) => services.get(type)?.calls ?? []
const respond = (reply: Parameters<AlertService['respond']>[0]) => {
  for (const service of services.values()) service.respond(reply)
}

/** A sequence: the services work, ask to wait, and are then away for a day. */
describe('every service', () => {
  it('that asks to wait gets nothing from its channel before, and then everything once', async () => {
    for (const [type, service] of services)
      service.respond(CONTRACTS[type]?.busy ?? { status: 429, headers: { 'retry-after': '60' } })
    await portreeve.raise(alice.id, 'first')
    await until(
      () => TYPES.map((type) => callsOf(type).length),
      (counts) => counts.every((count) => count === 1),
      30,
    )
    await portreeve.raise(alice.id, 'second')
    respond(null)
    await pass(20)
    await aWhile(1_000)
    for (const type of TYPES) expect([type, callsOf(type).length]).toEqual([type, 1])
    await pass(60)
    await until(
      () => TYPES.map((type) => services.get(type)?.shown.length ?? 0),
      (counts) => counts.every((count) => count >= 2),
      30,
    )
    await attempted()
    for (const [type, { shown, violations }] of services) {
      expect([type, violations]).toEqual([type, []])
      for (const name of ['first', 'second'])
        expect([type, shown.filter((text) => text.includes(name)).length]).toEqual([type, 1])
    }
  }, 90_000)

  it('that is away for a day gets every alert afterwards, and is not asked all the time', async () => {
    const names = ['away-1', 'away-2', 'away-3']
    for (const service of services.values()) {
      service.calls.length = 0
      service.shown.length = 0
    }
    receiver.received.length = 0
    respond({ status: 503 })
    receiver.answerWith(status(503))
    for (const name of names) await portreeve.raise(alice.id, name)
    await attempted()
    // Half hours, in which each is retried, and then longer steps: every attempt takes its time.
    const steps = [...Array<number>(8).fill(0.5), ...Array<number>(5).fill(4)]
    for (const hours of steps) {
      await pass(hours * 60 * 60)
      await attempted()
    }
    for (const type of TYPES) {
      expect(callsOf(type).length, type).toBeGreaterThan(names.length)
      // One or two in each, after the first four retries of each alert.
      expect(callsOf(type).length, type).toBeLessThan(names.length * 5 + 2 * steps.length + 4)
    }

    respond(null)
    receiver.answerWith(status(204))
    await pass(30 * 60)
    const hasAll = ({ shown }: AlertService) =>
      names.every((name) => shown.some((text) => text.includes(name)))
    await until(
      () => [...services].filter(([, service]) => !hasAll(service)).map(([type]) => type),
      (missing) => missing.length === 0,
      30,
    )
    // The longest pause between two attempts of a webhook in its first three days.
    await pass(24 * 60 * 60)
    await attempted()
    for (const [type, { shown }] of services)
      for (const name of names)
        expect([type, shown.filter((text) => text.includes(name)).length]).toEqual([type, 1])
    // A webhook gets all of them: each with the ID of its first attempt.
    const received = receiver.received.filter(({ headers }) => headers['webhook-id'] !== undefined)
    for (const name of names) {
      const about = received.filter(({ body }) => body.includes(name))
      expect(about.length).toBeGreaterThan(1)
      expect(new Set(about.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    }
    const { json } = await portreeve.call<{ alerts: Listed[] }>(alice.token, 'GET', 'alerts')
    for (const name of names) {
      const alert = json.data.alerts.find(({ title }) => title === `${name} is listed`)
      const states = alert?.deliveries.filter(({ type }) => type !== 'email') ?? []
      expect(states.length).toBe(TYPES.length + 1)
      for (const delivery of states)
        expect([delivery.type, delivery.status]).toEqual([delivery.type, 'sent'])
    }
  }, 180_000)

  it('gets no more messages than it allows, whatever was raised', async () => {
    for (const service of services.values()) service.calls.length = 0
    await portreeve.raise(alice.id, 'many')
    await attempted()
    // A message of its own each, which a burst of alerts would be one of. Services without a
    // documented limit get few: this test moves all that wait, again and again.
    await database.pool.query('update alert_channel set tokens = null, tokens_at = null')
    await database.pool.query(
      `with made as (
         insert into alert_message (channel_id, collecting)
         select id, false from alert_channel,
           generate_series(1, case when type = any($1) then $2::int else 3 end)
         where type not in ('email', 'webhook')
         returning id)
       insert into alert_message_content (message_id, alert_id)
       select made.id, (select id from alert where key = 'many') from made`,
      [Object.keys(DOCUMENTED), MEASURED_REQUESTS + 5],
    )
    times.clear()
    const counts = () => Object.keys(DOCUMENTED).map((type) => times.get(type)?.length ?? 0)
    while (counts().some((count) => count < MEASURED_REQUESTS)) {
      await pass(1)
      await aWhile(30)
    }
    for (const [type, limit] of Object.entries(DOCUMENTED)) {
      const list = times.get(type) ?? []
      const most = Math.max(
        ...list.map((from) => list.filter((at) => at >= from && at < from + limit.seconds).length),
      )
      expect(most, `${type}: ${list.join(' ')}`).toBeLessThanOrEqual(limit.requests)
    }
    for (const [type, { violations }] of services) expect([type, violations]).toEqual([type, []])
  }, 240_000)
})

type Listed = {
  title: string
  deliveries: { type: string; status: string }[]
}
