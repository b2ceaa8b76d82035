import { expect, it } from 'vitest'
import { CHANNEL_TYPES } from '../../src/alerts/channels/registry.ts'
import { freshDatabase } from '../database.ts'
import { startAlertService } from '../servers/alert-service.ts'
import { startAlerts } from './module.ts'

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
