import { expect, it } from 'vitest'
import { CHANNEL_TYPES } from '../../src/alerts/channels/channel-types.ts'
import { freshDatabase } from '../database.ts'
import { CONTRACTS, startAlertService } from '../servers/alert-service.ts'
import { startAlerts, until } from './module.ts'

it('creates a channel of each type and sends it a test', async () => {
  const types = CHANNEL_TYPES.filter(({ manual }) => manual !== null)
  const services = await Promise.all(types.map(({ id }) => startAlertService(id)))
  const database = await freshDatabase()
  const origins = new Map(services.flatMap((service) => [...service.origins]))
  const portreeve = await startAlerts(database.url, { origins })
  const { token } = await portreeve.addPerson('Alice')
  for (const [index, { id }] of types.entries()) {
    const service = services[index]
    const body = { type: id, settings: service?.settings }
    const created = await portreeve.call<{ id: string }>(token, 'POST', 'alerts/channels', body)
    expect(created.json, id).toMatchObject({ success: true })
    const path = `alerts/channels/${created.json.data.id}/test`
    const tested = await portreeve.call<{ responses: string[] }>(token, 'POST', path)
    expect(tested.json, id).toMatchObject({ success: true })
    expect(service?.violations, id).toEqual([])
    expect(service?.shown.length, id).toBeGreaterThan(0)
  }
  await portreeve.stop()
  await Promise.all([database.drop(), ...services.map((service) => service.close())])
}, 60_000)

it('fills in the defaults of settings', async () => {
  const database = await freshDatabase()
  const portreeve = await startAlerts(database.url)
  const { token } = await portreeve.addPerson('Alice')
  const settings = { key: 'k'.repeat(32) }
  const created = await portreeve.call(token, 'POST', 'alerts/channels', {
    type: 'pagerduty',
    settings,
  })
  expect(created.json).toMatchObject({ success: true, data: { settings: { region: 'US' } } })
  await portreeve.stop()
  await database.drop()
})

it('tests the settings of each type without creating a channel', async () => {
  const types = CHANNEL_TYPES.filter(({ manual }) => manual !== null)
  const services = await Promise.all(types.map(({ id }) => startAlertService(id)))
  const database = await freshDatabase()
  const origins = new Map(services.flatMap((service) => [...service.origins]))
  const portreeve = await startAlerts(database.url, { origins })
  const { token } = await portreeve.addPerson('Alice')
  const test = (body: object) =>
    portreeve.call<{ responses: string[] }>(token, 'POST', 'alerts/channels/test', body)
  for (const [index, { id }] of types.entries()) {
    const service = services[index]
    const body = { type: id, settings: service?.settings }
    expect((await test(body)).json, id).toMatchObject({ success: true })
    expect(service?.violations, id).toEqual([])
    service?.respond(CONTRACTS[id]?.dead ?? null)
    expect(await test(body), id).toMatchObject({
      status: 422,
      json: { code: 'upstream_rejected', details: [{ path: 'settings' }] },
    })
  }
  const channels = await portreeve.call<{ type: string }[]>(token, 'GET', 'alerts/channels')
  expect(channels.json.data.map(({ type }) => type)).toEqual(['email'])
  const email = await test({ type: 'email', address: 'alice@people.test' })
  expect(email).toMatchObject({ status: 400, json: { code: 'invalid_request' } })
  const invalid = await test({ type: 'slack', settings: { url: 'https://evil.test/x' } })
  expect(invalid).toMatchObject({ status: 400 })
  const stranger = await portreeve.call('no token', 'POST', 'alerts/channels/test', {})
  expect(stranger.status).toBe(401)
  await portreeve.stop()
  await Promise.all([database.drop(), ...services.map((service) => service.close())])
}, 60_000)

it('counts the alerts that wait, and says since when a channel fails', async () => {
  const service = await startAlertService('discord')
  const database = await freshDatabase()
  const portreeve = await startAlerts(database.url, { origins: service.origins })
  const { id, token } = await portreeve.addPerson('Alice')
  const created = await portreeve.call<{ waiting: number }>(token, 'POST', 'alerts/channels', {
    type: 'discord',
    settings: service.settings,
  })
  expect(created.json.data).toMatchObject({ waiting: 0, failingSince: null })
  service.respond({ status: 503 })
  await portreeve.raise(id, 'one.test')
  type Shown = { type: string; waiting: number; failingSince: string | null }
  const shown = async () => {
    const { json } = await portreeve.call<Shown[]>(token, 'GET', 'alerts/channels')
    return json.data.find(({ type }) => type === 'discord')
  }
  await until(shown, (channel) => channel?.failingSince !== null && channel?.waiting === 1)
  await portreeve.stop()
  await Promise.all([database.drop(), service.close()])
})
