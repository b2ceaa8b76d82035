import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startService } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { decrypt } from '../../src/store/encryption.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { CONTRACTS, startAlertService, type AlertService } from '../servers/alert-service.ts'
import { startReceiver, status, type Receiver } from '../servers/receiver.ts'
import { SECRET_KEY as OLD, startAlerts, until, type AlertsTest, type Person } from './module.ts'

const NEW = 'the key that follows the one of the tests'

let database: FreshDatabase
let services: AlertService[]
let receiver: Receiver
let origins: Map<string, string>
let alice: Person
beforeAll(async () => {
  database = await freshDatabase()
  receiver = await startReceiver(status(204))
  services = await Promise.all(Object.keys(CONTRACTS).map((type) => startAlertService(type)))
  origins = new Map(services.flatMap((service) => [...service.origins]))
})
afterAll(async () => {
  await Promise.all([receiver.close(), ...services.map((service) => service.close())])
  await database.drop()
})

const add = (portreeve: AlertsTest, body: object) =>
  portreeve.call<{ secret: string | null }>(alice.token, 'POST', 'alerts/channels', body)

const channels = () =>
  Object.keys(CONTRACTS).map((type, index) => ({ type, settings: services[index]?.settings }))

/** Every text and hash that was made with a SECRET_KEY. */
async function storedSecrets() {
  const { rows } = await database.pool.query<{
    id: string
    type: string
    target: string
    secret: string | null
    settings: string | null
  }>(
    'select id, type, target, secret, settings_encrypted as settings from alert_channel order by id',
  )
  return rows
}

it('after a change of SECRET_KEY, channels of every type still send, and nothing is left under the old key', async () => {
  const before = await startAlerts(database.url, { works: false, origins })
  alice = await before.addPerson('Alice')
  const webhook = await add(before, { type: 'webhook', url: `${receiver.origin}/hook` })
  for (const channel of channels()) {
    const { status: code, json } = await add(before, channel)
    expect([channel.type, code, json.error]).toEqual([channel.type, 201, undefined])
  }
  // As the version before stored it.
  const old = `${receiver.origin}/stored-as-text`
  await add(before, { type: 'webhook', url: old, label: 'old' })
  await before.stop()
  await database.pool.query(
    "update alert_channel set target = $1, settings_encrypted = null, enabled = false where label = 'old'",
    [old],
  )
  const stored = await storedSecrets()
  // Who knows the URL can write to it.
  expect(JSON.stringify(stored)).not.toContain('/hook')

  const settings = { DATABASE_URL: database.url, PORT: '0', ROLES: 'web', SMTP_LISTEN: 'off' }
  const keys = { SECRET_KEY: NEW, SECRET_KEY_PREVIOUS: OLD }
  const service = await startService(readConfig({ ...settings, ...keys }), createLog('silent'))
  await service.stop()

  const rotated = await storedSecrets()
  expect(rotated).toHaveLength(stored.length)
  rotated.forEach(({ id, type, target, secret, settings: text }, index) => {
    for (const sealed of [secret, text].filter((value) => value !== null)) {
      expect(decrypt(sealed, NEW, `alert-channel/${id}`), type).not.toBe('')
      expect(() => decrypt(sealed, OLD, `alert-channel/${id}`), type).toThrow()
    }
    if (text !== null) expect(target, type).not.toBe(stored[index]?.target)
  })

  const after = await startAlerts(database.url, { secretKey: NEW, origins })
  await after.raise(alice.id, '8.8.4.4')
  await until(
    () => services.map(({ calls }) => calls.length),
    (counts) => counts.every((count) => count === 1),
    30,
  )
  for (const { shown, violations } of services) {
    expect(violations).toEqual([])
    expect(shown.join()).toContain('8.8.4.4')
  }
  const { received } = receiver
  await until(
    () => received.length,
    (count) => count === 1,
  )
  // The receiver still has the key that it was shown.
  const [request] = received
  const { headers, body } = request as (typeof received)[number]
  const key = Buffer.from((webhook.json.data.secret ?? '').slice('whsec_'.length), 'base64')
  const text = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  const signature = createHmac('sha256', key).update(text).digest('base64')
  expect(headers['webhook-signature']).toBe(`v1,${signature}`)

  // URLs that were stored as text are encrypted, too.
  await until(storedSecrets, (rows) => rows.every(({ target }) => target !== old))
  const url = { type: 'webhook', url: `${receiver.origin}/hook` }
  for (const one of [url, { ...url, url: old }]) expect((await add(after, one)).status).toBe(409)
  const shown = await after.call<{ url: string | null }[]>(alice.token, 'GET', 'alerts/channels')
  expect(shown.json.data.flatMap((one) => one.url ?? [])).toEqual([url.url, old])

  // The same settings are still recognised.
  for (const channel of channels()) expect((await add(after, channel)).status).toBe(409)
  await after.stop()
}, 120_000)
