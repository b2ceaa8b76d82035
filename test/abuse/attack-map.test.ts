import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AttackMap } from '../../src/abuse/lookup/attack-map.ts'
import { DAY_MS } from '../../src/time.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startAbuse, type AbuseTest } from './module.ts'

const NOW = Date.parse('2026-11-24T12:00:00.000Z')

describe('the attack map', () => {
  let database: FreshDatabase
  let portreeve: AbuseTest
  let now = NOW
  beforeAll(async () => {
    database = await freshDatabase()
    portreeve = await startAbuse(database.url, () => now, {
      source: 'configured',
      date: null,
      find: (address) => (address.startsWith('45.') ? 64_500 : null),
      systemOf: (address) =>
        address.startsWith('45.') ? { number: 64_500, name: 'Example Networks' } : null,
    })
  })
  afterAll(async () => {
    await portreeve.stop()
    await database.drop()
  })

  const report = async (ip: string, service: string) => {
    const { ok } = await portreeve.request('report', { body: { ip, service } })
    expect(ok).toBe(true)
  }
  const map = async (query = '') =>
    (await portreeve.answerTo<{ data: AttackMap }>(`networks${query}`)).data

  it('counts accepted reports by the network of the attacker and by service', async () => {
    await report('45.1.2.3', 'ssh')
    await report('45.1.9.9', 'ssh')
    await report('45.1.9.9', 'smtp')
    await report('45.1.9.9', 'smtp')
    await report('8.8.4.4', 'ssh')
    await report('2001:4860:4860::8844', 'ssh')
    const found = await map()
    expect(found).toMatchObject({ from: '2026-11-18', to: '2026-11-24', reports: 5 })
    expect(found.networks).toEqual([
      {
        network: 'AS64500',
        name: 'Example Networks',
        reports: 3,
        services: [
          { service: 'ssh', count: 2 },
          { service: 'smtp', count: 1 },
        ],
      },
      { network: '2001:4860::/32', name: '', reports: 1, services: [{ service: 'ssh', count: 1 }] },
      { network: '8.8.0.0/16', name: '', reports: 1, services: [{ service: 'ssh', count: 1 }] },
    ])
    expect(found.others).toEqual({ networks: 0, reports: 0, services: [] })
  })

  it('is read again after fifteen seconds at the latest, and not before', async () => {
    await report('45.1.7.7', 'ssh')
    expect((await map()).reports).toBe(5)
    now += 15_000
    expect((await map()).reports).toBe(6)
  })

  it('shows one day of the last thirty', async () => {
    expect((await map('?day=2026-11-24')).reports).toBe(6)
    expect((await map('?day=2026-11-23')).networks).toEqual([])
    for (const day of ['2026-10-25', '2026-11-25', 'yesterday'])
      expect((await portreeve.request(`networks?day=${day}`)).status).toBe(400)
  })

  it('leaves days out that are more than a week ago, and joins small networks', async () => {
    now += 7 * DAY_MS
    expect((await map()).reports).toBe(0)
    for (let n = 0; n < 26; n++) await report(`9.${n}.0.1`, 'ssh')
    now += 15_000
    const found = await map()
    expect(found.networks).toHaveLength(24)
    expect(found.others).toEqual({
      networks: 2,
      reports: 2,
      services: [{ service: 'ssh', count: 2 }],
    })
  })

  it('says nothing about reporters', async () => {
    const text = JSON.stringify(await map())
    expect(text).not.toMatch(/81\.2|reporter|token|origin/)
  })
})
