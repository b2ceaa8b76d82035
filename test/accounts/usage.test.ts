import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PLANS } from '../../src/config.ts'
import { QUOTA_BYTES, QUOTAS } from '../../src/accounts/own-data/account-quotas.ts'
import { startTestService, type TestService, type Person } from '../service.ts'

type QuotaUsage = { name: string; used: number; limit: number; beyond: string }
type Usage = { accountId?: string; plan: string; quotas: QuotaUsage[] }

let portreeve: TestService
let alice: Person
let charlie: Person
let admin: Person
beforeAll(async () => {
  portreeve = await startTestService()
  admin = await portreeve.addPerson('Ada', { admin: true, plan: 'enterprise' })
  alice = await portreeve.addPerson('Alice')
  charlie = await portreeve.addPerson('Charlie')
})
afterAll(() => portreeve.stop())

async function usageOf({ token }: Person): Promise<Usage> {
  const answer = await portreeve.request('/api/v1/account/usage', { token })
  expect(answer.status).toBe(200)
  return ((await answer.json()) as { data: Usage }).data
}

const used = ({ quotas }: Usage, name: string) => quotas.find((quota) => quota.name === name)?.used

describe('the quotas of a plan', () => {
  it('increase with the plan', () => {
    for (const quota of QUOTAS) {
      const limits = PLANS.map((plan) => QUOTA_BYTES[plan][quota])
      expect(limits).toEqual(limits.toSorted((one, other) => one - other))
      expect(new Set(limits).size).toBe(PLANS.length)
    }
  })
})

describe('the storage usage of an account', () => {
  it('has the limit of the plan and the effect of a full quota', async () => {
    expect(await usageOf(alice)).toEqual({
      plan: 'free',
      quotas: QUOTAS.map((name) => {
        return {
          name,
          used: 0,
          limit: QUOTA_BYTES.free[name],
          beyond: expect.stringMatching(/^[A-Z].+\.$/),
        }
      }),
    })
  })

  it('increases with captures and report files, for the account and administrators', async () => {
    const post = (path: string, body: string, type = 'application/json') =>
      portreeve.request(path, {
        method: 'POST',
        token: alice.token,
        headers: { 'content-type': type },
        body,
      })
    const made = await post('/api/webhook/endpoints', '{}')
    const { endpoint } = (await made.json()) as { endpoint: { url: string } }
    await fetch(endpoint.url, { method: 'POST', body: 'x'.repeat(50_000) })
    await post('/api/v1/dmarc/reports', 'not a report'.repeat(100), 'application/octet-stream')

    const usage = await usageOf(alice)
    expect(used(usage, 'captures')).toBeGreaterThan(50_000)
    expect(used(usage, 'captures')).toBeLessThan(51_000)
    expect(used(usage, 'reportFiles')).toBe(1_200)
    expect(used(await usageOf(charlie), 'captures')).toBe(0)

    const all = await portreeve.request('/api/v1/accounts/usage?limit=2', { token: admin.token })
    const { data } = (await all.json()) as { data: { accounts: Usage[]; pagination: object } }
    expect(data.pagination).toEqual({ page: 1, total: 3, totalPages: 2 })
    expect(data.accounts.map(({ accountId, plan }) => [accountId, plan])).toEqual([
      [admin.id, 'enterprise'],
      [alice.id, 'free'],
    ])
    expect(data.accounts[1]?.quotas).toEqual(usage.quotas)
  })

  it('is hidden from other accounts', async () => {
    expect((await portreeve.request('/api/v1/account/usage')).status).toBe(401)
    expect((await portreeve.request('/api/v1/accounts/usage')).status).toBe(401)
    expect(
      (await portreeve.request('/api/v1/accounts/usage', { token: charlie.token })).status,
    ).toBe(403)
  })
})
