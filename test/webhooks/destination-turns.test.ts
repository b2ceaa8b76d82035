import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createLog } from '../../src/log.ts'
import type { Resolver } from '../../src/net/dns.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { DESTINATION_TURN_MS } from '../../src/webhooks/limits.ts'
import {
  claimDestinations,
  releaseDestination,
} from '../../src/webhooks/forwarding/destinations.sql.ts'
import { runDestination } from '../../src/webhooks/forwarding/run-destination.ts'
import { until } from '../alerts/module.ts'
import { silence, startReceiver, status, type Receiver } from '../servers/receiver.ts'
import { startWebhooks, type WebhooksTest } from './module.ts'

const SECRET_KEY = 'the key of this test, which is long enough'

// Without the role `worker`, only this file sends what waits.
let portreeve: WebhooksTest
let database: Database
let receiver: Receiver

beforeAll(async () => {
  receiver = await startReceiver(status(204))
  portreeve = await startWebhooks({
    ROLES: 'web',
    REQUEST_LIMITS: 'off',
    SECRET_KEY,
    WEBHOOK_FORWARDING: 'all',
    FORWARD_PRIVATE_TARGETS: '127.0.0.1',
  })
  database = openDatabase(portreeve.portreeve.databaseUrl)
})
afterEach(async () => void (await database.pool.query('delete from webhook_destination')))
afterAll(async () => {
  await database.close()
  await portreeve.stop()
  await receiver.close()
})

/** Adds destinations of an account, each with requests that wait. @returns their ids */
async function addWaiting(token: string, destinations: number, requests: number) {
  const { json } = await portreeve.api('POST', '', {}, token)
  const { id, token: key } = json.endpoint
  const ids: string[] = []
  for (let count = 0; count < destinations; count++) {
    const body = { url: receiver.origin, concurrency: 1 }
    const added = await portreeve.api('POST', `/${id}/destinations`, body, token)
    expect(added.status, JSON.stringify(added.json)).toBe(201)
    ids.push((added.json as unknown as { destination: { id: string } }).destination.id)
  }
  for (let count = 0; count < requests; count++)
    await portreeve.portreeve.request(`/webhooks/${key}`, { method: 'POST', body: String(count) })
  return ids
}

const deps = () => ({
  db: database.db,
  guard: { resolver: {} as Resolver, allowPrivate: true },
  secretKey: SECRET_KEY,
  baseUrl: 'https://portreeve.test',
  log: createLog('silent'),
})
const signals = { stop: new AbortController().signal, cut: new AbortController().signal }

describe('destinations take turns', () => {
  it('of accounts: one with many does not keep others waiting', async () => {
    const bob = await portreeve.portreeve.addPerson('Bob')
    const many = await addWaiting(portreeve.alice.token, 8, 1)
    const few = await addWaiting(bob.token, 2, 1)
    const first = await claimDestinations(database.db, 4)
    const ofBob = first.filter(({ id }) => few.includes(id))
    expect([first.length, ofBob.length]).toEqual([4, 2])
    const rest = await claimDestinations(database.db, 100)
    expect(new Set([...first, ...rest].map(({ id }) => id))).toEqual(new Set([...many, ...few]))
  })

  it('of one account: the one that has waited longest is next', async () => {
    const ids = await addWaiting(portreeve.alice.token, 3, 1)
    const seen: string[] = []
    for (let turn = 0; turn < 3; turn++) {
      const [claimed] = await claimDestinations(database.db, 1)
      if (!claimed) throw new Error('nothing was claimed')
      seen.push(claimed.id)
      // As after a turn: others that are due come first.
      await releaseDestination(database.db, claimed)
    }
    expect(new Set(seen)).toEqual(new Set(ids))
  })

  it('ends the turn of a slow one where others wait, without losing or repeating a request', async () => {
    receiver.answerWith(silence)
    const [id] = await addWaiting(portreeve.alice.token, 1, 5)
    const [claimed] = await claimDestinations(database.db, 1)
    if (!claimed) throw new Error('nothing was claimed')
    const run = runDestination(deps(), claimed, signals, {
      bytes: 0,
      isCrowded: () => true,
      hasRoom: () => false,
    })
    await until(
      () => receiver.received,
      (all) => all.length === 1,
      30,
    )
    const real = performance.now.bind(performance)
    const clock = vi
      .spyOn(performance, 'now')
      .mockImplementation(() => real() + DESTINATION_TURN_MS + 1)
    receiver.answerWith(status(204))
    receiver.hangUp()
    await run.done
    clock.mockRestore()
    expect(receiver.received).toHaveLength(1)
    const states = await database.pool.query<{ state: string; count: string }>(
      'select state, count(*) from webhook_delivery where destination_id = $1 group by state',
      [id],
    )
    expect(states.rows).toEqual([{ state: 'waiting', count: 5 }])
    // It is due again at once, and sends the others in its next turn.
    const [again] = await claimDestinations(database.db, 1)
    expect(again?.id).toBe(id)
  })
})
