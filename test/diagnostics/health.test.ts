import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Health } from '../../src/diagnostics/shapes.ts'
import { startTestService, type TestService } from '../service.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'

let dns: DnsServer
let portreeve: TestService
let admin: string
beforeAll(async () => {
  dns = await startDns({ records: { '. NS': ['a.root-servers.test'] } })
  portreeve = await startTestService({
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${dns.port}`,
  })
  admin = (await portreeve.addPerson('Alice', { admin: true })).token
})
afterAll(async () => {
  await portreeve.stop()
  await dns.close()
})

async function look(): Promise<Health> {
  const answer = await portreeve.request('/api/v1/service/health', { token: admin })
  expect(answer.status).toBe(200)
  return ((await answer.json()) as { data: Health }).data
}

describe('the health of the service', () => {
  it('reports the state of the resolver, the blocklists and the database, with fixes', async () => {
    const { findings, database } = await look()
    expect(findings).toContainEqual({
      about: 'DNS',
      state: 'good',
      sentence: expect.stringMatching(/answers in \d+ ms/),
    })
    expect(findings).toContainEqual({
      about: 'blacklists',
      state: 'bad',
      sentence: expect.stringMatching('DNSBL_SERVERS'),
    })
    expect(findings).toContainEqual({
      about: 'clock',
      state: 'good',
      sentence: expect.stringMatching('agree'),
    })
    expect(database).toEqual({ version: expect.stringMatching(/^\d+/), bytes: expect.any(Number) })
    expect(database.bytes).toBeGreaterThan(1_000_000)
  })

  it('counts the jobs of every module', async () => {
    const { jobs } = await look()
    expect(jobs.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['accounts.clean-up', 'migration.run']),
    )
    expect(
      jobs.every(({ later, ready, running, failed }) =>
        [later, ready, running, failed].every(Number.isInteger),
      ),
    ).toBe(true)
  })

  it('is for administrators alone', async () => {
    const { token } = await portreeve.addPerson('Charlie')
    expect((await portreeve.request('/api/v1/service/health', { token })).status).toBe(403)
    expect((await portreeve.request('/api/v1/service/health')).status).toBe(401)
  })
})
