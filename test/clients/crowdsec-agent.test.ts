import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../../src/version.ts'
import { startCrowdSec, type CrowdSec } from '../servers/crowdsec.ts'
import { listen } from '../servers/listen.ts'
import { startTestService, type Person, type TestService } from '../service.ts'

let portreeve: TestService
let alice: Person
let token: string
beforeAll(async () => {
  portreeve = await startTestService({ REQUEST_LIMITS: 'off' })
  alice = await portreeve.addPerson('Alice')
  const made = await portreeve.request('/api/v1/abuse/tokens', {
    method: 'POST',
    token: alice.token,
  })
  token = ((await made.json()) as { token: string }).token
})
afterAll(() => portreeve?.stop())

type Facts = { data: { services: { service: string }[]; evidence: { count: number }[] } }
const servicesOf = async (ip: string) => {
  const answer = await portreeve.request(`/api/v1/abuse/check?ip=${ip}`)
  return ((await answer.json()) as Facts).data.services.map(({ service }) => service)
}

describe('an agent of CrowdSec', () => {
  let agent: CrowdSec
  beforeAll(async () => {
    const url = `${portreeve.url}/`
    agent = await startCrowdSec({ url, login: 'web-1', password: token })
  })
  afterAll(() => agent?.close())

  it('reports its alerts with a report token as password, and its fleet bans them', async () => {
    await expect.poll(() => agent.log(), { timeout: 30_000 }).toContain('Starting processing data')
    // It reads the file from its end on.
    await expect
      .poll(
        async () => {
          agent.attack('9.9.1.1')
          return servicesOf('9.9.1.1')
        },
        { timeout: 30_000, interval: 1_000 },
      )
      .toEqual(['ssh'])
    const bans = await portreeve.request('/api/v1/abuse/fleet/bans', { token: alice.token })
    expect(await bans.json()).toMatchObject({ data: { bans: [{ address: '9.9.1.1' }] } })
    expect(agent.log()).not.toMatch(/level=(fatal|error) msg="(?!unable to register plugin)/)
  })
})

describe('an engine of CrowdSec with the notification plugin', () => {
  let engine: CrowdSec
  beforeAll(async () => {
    const reserved = await listen(() => {})
    await reserved.close()
    const { port } = reserved
    const notification = readFileSync(join(ROOT, 'clients/crowdsec/portreeve.yaml'), 'utf8')
      .replace('https://reports.example.com', portreeve.url)
      .replace('REPORT_TOKEN', token)
      .replace('group_wait: 10s', 'group_wait: 1s')
    const profile = `name: default\nfilters:\n - Alert.Remediation == true && Alert.GetScope() == "Ip"\ndecisions:\n - type: ban\n   duration: 4h\nnotifications: [portreeve]\non_success: break\n`
    engine = await startCrowdSec({
      url: `http://127.0.0.1:${port}/`,
      login: 'engine',
      password: 'a password of its own',
      engine: { port, notification, profile },
    })
  })
  afterAll(() => engine?.close())

  it('reports its alerts', async () => {
    await expect.poll(() => engine.log(), { timeout: 30_000 }).toContain('Starting processing data')
    await expect
      .poll(
        async () => {
          engine.attack('9.9.2.2')
          return servicesOf('9.9.2.2')
        },
        { timeout: 30_000, interval: 1_000 },
      )
      .toEqual(['ssh'])
  })
})

describe('alerts', () => {
  const send = (path: string, body: unknown, headers: Record<string, string>) =>
    portreeve.request(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const alert = (value: string, changes: object = {}) => ({
    scenario: 'crowdsecurity/http-sqli-probing',
    events_count: 12,
    stop_at: new Date().toISOString(),
    source: { scope: 'Ip', value },
    ...changes,
  })

  it('are skipped when they are simulated, manual, old, or about no public address', async () => {
    const sent = [
      alert('9.9.3.1'),
      alert('9.9.3.2', { simulated: true }),
      alert('9.9.3.3', { decisions: [{ origin: 'cscli' }] }),
      alert('9.9.3.4', { stop_at: '2020-01-01T00:00:00Z' }),
      alert('10.0.0.1'),
      alert('AS64500', { source: { scope: 'AS', value: '64500' } }),
    ]
    const answer = await send('/api/v1/abuse/report/crowdsec', sent, { 'x-report-token': token })
    const { data } = (await answer.json()) as { data: { accepted: number; skipped: object[] } }
    expect([data.accepted, data.skipped.length]).toEqual([1, 5])
    expect(await servicesOf('9.9.3.1')).toEqual(['sqli'])
  })

  it('need a session of an agent, which a wrong password does not get', async () => {
    const login = (password: string) =>
      send('/v1/watchers/login', { machine_id: 'x', password, scenarios: [] }, {})
    expect((await login(`ar_${'x'.repeat(32)}`)).status).toBe(401)
    expect(await (await login(token)).json()).toMatchObject({ code: 200, token })
    expect((await send('/v1/watchers', { machine_id: 'x', password: 'y' }, {})).status).toBe(403)
    expect((await send('/v1/watchers', { machine_id: 'x', password: token }, {})).status).toBe(201)
    expect((await send('/v1/alerts', [alert('9.9.4.1')], {})).status).toBe(401)
    const signedIn = { authorization: `Bearer ${token}` }
    const accepted = await send('/v1/alerts', [alert('9.9.4.1'), alert('9.9.4.2')], signedIn)
    expect([accepted.status, await accepted.json()]).toEqual([201, ['1', '2']])
    const manual = alert('9.9.4.3', { decisions: [{ origin: 'cscli' }] })
    expect((await send('/v1/alerts', [manual], signedIn)).status).toBe(400)
    expect((await portreeve.request('/v1/heartbeat', { headers: signedIn })).status).toBe(200)
    expect((await send('/v1/usage-metrics', { log_processors: [{}] }, signedIn)).status).toBe(201)
  })

  it('read the allowlist of the fleet as agents of CrowdSec 1.7 do', async () => {
    const allow = async (cidr: string, label?: string) => {
      const path = '/api/v1/abuse/fleet/allowlist'
      const { status } = await portreeve.request(path, {
        method: 'POST',
        token: alice.token,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ cidr, label }),
      })
      expect(status).toBe(201)
    }
    await allow('198.51.100.0/24', 'office')
    await allow('2001:db8:1::/48')
    const headers = { authorization: `Bearer ${token}` }
    const get = async (path: string, method = 'GET') => {
      const answer = await portreeve.request(`/v1/allowlists${path}`, { method, headers })
      const text = await answer.text()
      return [answer.status, text === '' ? null : (JSON.parse(text) as unknown)]
    }
    const list = { name: 'portreeve', console_managed: false }
    expect(await get('')).toMatchObject([200, [{ ...list, items: [] }]])
    const items = [
      { value: '198.51.100.0/24', description: 'office' },
      { value: '2001:db8:1::/48', description: '' },
    ]
    expect(await get('?with_content=true')).toMatchObject([200, [{ ...list, items }]])
    expect(await get('/portreeve?with_content=true')).toMatchObject([200, { ...list, items }])
    expect(await get('/other')).toEqual([404, { message: 'object not found' }])

    const office = { allowlisted: true, reason: '198.51.100.0/24 from portreeve (office)' }
    expect(await get('/check/198.51.100.7')).toEqual([200, office])
    // A network that has an allowed one in it is not to be banned either.
    expect(await get('/check/198.51.0.0/16')).toEqual([200, office])
    expect(await get('/check/198.51.0.0%2F16')).toEqual([200, office])
    expect(await get('/check/2001:db8:1::5')).toMatchObject([200, { allowlisted: true }])
    expect(await get('/check/198.51.101.7')).toEqual([200, { allowlisted: false }])
    expect(await get('/check/198.51.100.7', 'HEAD')).toEqual([200, null])
    expect(await get('/check/198.51.101.7', 'HEAD')).toEqual([204, null])
    expect((await get('/check/nonsense'))[0]).toBe(400)

    const targets = ['8.8.8.8', '198.51.100.7', '2001:db8:1:2::/64', '198.51.100.7']
    const checked = await send('/v1/allowlists/check', { targets }, headers)
    expect(await checked.json()).toEqual({
      results: [
        { target: '198.51.100.7', allowlists: ['198.51.100.0/24 from portreeve (office)'] },
        { target: '2001:db8:1:2::/64', allowlists: ['2001:db8:1::/48 from portreeve'] },
      ],
    })
    expect((await send('/v1/allowlists/check', { targets: [] }, headers)).status).toBe(400)
    expect((await send('/v1/allowlists/check', { targets }, {})).status).toBe(401)
    expect((await portreeve.request('/v1/allowlists')).status).toBe(401)
  })
})
