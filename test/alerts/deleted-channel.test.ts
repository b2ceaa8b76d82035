import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startAlertService, type AlertService } from '../servers/alert-service.ts'
import { startAlerts, until, type AlertsTest, type Person } from './module.ts'

type Listed = {
  title: string
  deliveries: { type: string; status: string; error: string | null }[]
}

let database: FreshDatabase
let discord: AlertService
let gotify: AlertService
let portreeve: AlertsTest
let alice: Person
let discordId: string

const call = <T>(method: string, path: string, body?: object) =>
  portreeve.call<T>(alice.token, method, `alerts${path}`, body)

beforeAll(async () => {
  database = await freshDatabase()
  ;[discord, gotify] = await Promise.all([
    startAlertService('discord'),
    startAlertService('gotify'),
  ])
  portreeve = await startAlerts(database.url, { origins: discord.origins })
  alice = await portreeve.addPerson('Alice')
  const add = async (type: string, { settings }: AlertService) =>
    (await call<{ id: string }>('POST', '/channels', { type, settings })).json.data.id
  discordId = await add('discord', discord)
  await add('gotify', gotify)
})
afterAll(async () => {
  await portreeve.stop()
  await Promise.all([discord.close(), gotify.close()])
  await database.drop()
})

/** Waits until so many connections of this database wait for a lock. */
const waitForBlocked = (wanted: number) =>
  until(
    async () => {
      const { rows } = await database.pool.query<{ count: number }>(
        `select count(*)::int as count from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows[0]?.count
    },
    (count) => count === wanted,
  )

const shows = (service: AlertService, name: string) =>
  until(
    () => service.shown,
    (shown) => shown.some((text) => text.includes(name)),
  )

describe('a channel that is deleted while alerts are queued', () => {
  it('is skipped by an alert and an acknowledgement, and the other channels get the alert', async () => {
    await portreeve.raise(alice.id, 'before')
    await Promise.all([shows(discord, 'before'), shows(gotify, 'before')])
    const { json } = await call<{ incidents: { id: string }[] }>('GET', '/incidents')
    const incident = json.data.incidents[0]?.id

    // Stops the deletion after it has locked the channel.
    const other = await database.pool.connect()
    await other.query('begin')
    await other.query('select from alert_message where channel_id = $1 for update', [discordId])
    const deleted = call('DELETE', `/channels/${discordId}`)
    await waitForBlocked(1)
    const raised = portreeve.raise(alice.id, 'meanwhile')
    const acknowledged = call('POST', `/incidents/${incident}/acknowledge`)
    await waitForBlocked(3)
    await other.query('commit')
    other.release()

    expect((await deleted).status).toBe(200)
    expect(await raised).toBe(true)
    expect((await acknowledged).status).toBe(200)
    await shows(gotify, 'meanwhile')
    const { alerts } = (await call<{ alerts: Listed[] }>('GET', '')).json.data
    const typesOf = (name: string) =>
      alerts
        .find(({ title }) => title === `${name} is listed`)
        ?.deliveries.map(({ type }) => type)
        .filter((type) => type !== 'email')
        .toSorted()
    expect([typesOf('before'), typesOf('meanwhile')]).toEqual([['discord', 'gotify'], ['gotify']])
  })
})
