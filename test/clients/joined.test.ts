import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addAdministrator } from '../accounts/sessions.ts'
import { startTestService, type TestService, type Person } from '../service.ts'
import { attack, bansOf, openFail2banMachine, startServer, until } from '../servers/fail2ban.ts'
import type { Machine } from '../servers/machine.ts'

const ATTACKER = '81.2.69.160'
/** Two servers of the operator, in different networks. */
const SENSORS = ['90.1.2.3', '91.1.2.3']

describe('a server that joins a running service with one line', () => {
  let machine: Machine
  let portreeve: TestService
  let admin: Person
  beforeAll(async () => {
    portreeve = await startTestService({ TRUSTED_PROXIES: '127.0.0.1' })
    admin = await addAdministrator(portreeve, 'Alice')
    machine = await openFail2banMachine()
    await startServer(machine)
  })
  afterAll(async () => {
    await machine?.close()
    await portreeve?.stop()
  })

  async function ask<T>(path: string, body?: object, from?: string): Promise<T> {
    const headers = { 'content-type': 'application/json', ...(from && { 'x-forwarded-for': from }) }
    const init = body ? { method: 'POST', body: JSON.stringify(body) } : {}
    const answer = await portreeve.request(`/api/v1/abuse/${path}`, {
      ...init,
      headers,
      token: admin.token,
    })
    expect(answer.status).toBeLessThan(300)
    return (await answer.json()) as T
  }
  const check = async () =>
    (await ask<{ data: Record<string, unknown> }>(`check?ip=${ATTACKER}`)).data
  const exported = async () => (await portreeve.request('/api/v1/abuse/export')).text()

  it('shows its ban in check, stats and token metrics, and in the export once others saw it too', async () => {
    const { token } = await ask<{ token: string }>('tokens', { label: 'web-1' })
    const line = `curl -fsS '${portreeve.url}/api/v1/abuse/fail2ban-install?token=${token}' | sh -s -- --yes`
    const installed = await machine.runAside(['sh', '-c', line])
    expect(installed).toMatchObject({ status: 0, stderr: '' })

    attack(machine, 'sshd', [ATTACKER])
    await until(() => bansOf(machine).includes(`sshd tcp ${ATTACKER}`))
    await expect.poll(async () => (await check())['listingState']).toBe('watchlist')
    expect(await check()).toMatchObject({
      listed: false,
      totalReports: 1,
      distinctReporters: 1,
      services: [{ service: 'ssh', count: 1 }],
      evidence: [{ service: 'ssh', port: 22, count: 3 }],
    })
    const { data: stats } = await ask<{ data: object }>('stats')
    expect(stats).toMatchObject({
      totalReports: 1,
      watchlistIps: 1,
      byService: [{ service: 'ssh', count: 1 }],
    })
    const { metrics } = await ask<{ metrics: object }>(`tokens/${token}`)
    expect(metrics).toMatchObject({ totalReports: 1, last7d: 1, currentlyListedFromMyReports: 0 })
    expect(await exported()).toBe('')

    for (const sensor of SENSORS) {
      await ask('sensors', { cidr: `${sensor}/32`, label: 'ours' })
      await ask('report', { ip: ATTACKER, service: 'imap', count: 20 }, sensor)
    }
    expect(await check()).toMatchObject({
      listed: true,
      listingState: 'listed',
      distinctReporters: 3,
    })
    await expect.poll(exported, { interval: 100 }).toBe(`${ATTACKER}\n`)
    const after = await ask<{ metrics: object }>(`tokens/${token}`)
    expect(after.metrics).toMatchObject({ totalReports: 1, currentlyListedFromMyReports: 1 })
  }, 90_000)
})
