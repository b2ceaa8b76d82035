import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../../src/http/http-app.ts'
import { openDatabase } from '../../src/store/database.ts'
import { unpacked } from '../servers/debian-package.ts'
import { openFleetNetwork, REPORTS_URL, type FleetNetwork } from '../servers/fleet-network.ts'
import { openMachine, requirePackages, type Machine } from '../servers/machine.ts'
import { startTestService, type Person, type TestService } from '../service.ts'

const [ATTACKER, EARLIER, STRANGER] = ['45.9.20.7', '45.9.20.8', '45.9.20.6']
const SERVER = '45.9.20.11'

type Decision = { value: string; scope: string; duration: string; origin: string; scenario: string }
type Stream = { new: Decision[]; deleted: Decision[] }

let app: App | undefined
let portreeve: TestService
let alice: Person
let bouncerKey: string

beforeAll(async () => {
  requirePackages('nftables', 'iproute2')
  portreeve = await startTestService({ REPORTS_URL, REQUEST_LIMITS: 'off' }, (started) => {
    app = started
  })
  alice = await portreeve.addPerson('Alice')
  bouncerKey = await makeKey(alice)
})
afterAll(() => portreeve?.stop())

async function makeKey(person: Person): Promise<string> {
  const made = await portreeve.request('/api/v1/abuse/fleet/keys', {
    method: 'POST',
    token: person.token,
  })
  return ((await made.json()) as { data: { key: string } }).data.key
}

async function ask<T>(path: string, body?: object, method = body ? 'POST' : 'GET'): Promise<T> {
  const answer = await portreeve.request(`/api/v1/abuse/fleet${path}`, {
    method,
    token: alice.token,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  expect(answer.status).toBeLessThan(300)
  return ((await answer.json()) as { data: T }).data
}

const ban = (ip: string, seconds = 3_600) => ask('/bans', { ip, seconds })
async function unban(address: string): Promise<void> {
  const { bans } = await ask<{ bans: { id: string }[] }>(`/bans?q=${address}`)
  for (const { id } of bans) await ask(`/bans/${id}`, undefined, 'DELETE')
}

/** A request as a bouncer of this name sends it. */
const bouncer = (name: string, key = bouncerKey) => ({
  request: (path: string, init: RequestInit = {}) =>
    portreeve.request(path, {
      ...init,
      headers: { 'x-api-key': key, 'user-agent': name, ...(init.headers as object) },
    }),
  async stream(query = 'startup=false'): Promise<Stream> {
    const answer = await this.request(`/v1/decisions/stream?${query}`)
    expect(answer.status).toBe(200)
    return (await answer.json()) as Stream
  },
})
const valuesOf = (decisions: Decision[]) => decisions.map(({ value }) => value).toSorted()

describe('the API of CrowdSec’s bouncers', () => {
  it('streams the whole list at startup, then only what changed for this bouncer', async () => {
    const [one, two] = [bouncer('one/v1'), bouncer('two/v1')]
    await ban('45.1.0.1')
    await ban('2a00:1450:9:1::5')
    const all = ['2a00:1450:9:1::/64', '45.1.0.1']
    const started = await one.stream('startup=true')
    expect(valuesOf(started.new)).toEqual(all)
    expect(started.new.find(({ scope }) => scope === 'Ip')).toMatchObject({
      origin: 'portreeve-fleet',
      scenario: 'portreeve/manual',
      type: 'ban',
      duration: expect.stringMatching(/^(1h0m0s|59m5\ds)$/),
    })
    expect(await one.stream()).toEqual({ new: [], deleted: [] })
    await ban('45.1.0.2')
    await unban('45.1.0.1')
    const changed = await one.stream()
    expect([valuesOf(changed.new), valuesOf(changed.deleted)]).toEqual([['45.1.0.2'], ['45.1.0.1']])
    expect(await one.stream()).toEqual({ new: [], deleted: [] })
    expect(valuesOf((await two.stream()).new)).toEqual(['2a00:1450:9:1::/64', '45.1.0.2'])
    expect(valuesOf((await two.stream('startup=true&scopes=ip')).new)).toEqual(['45.1.0.2'])
    expect((await two.stream('startup=true&origins=CAPI')).new).toEqual([])
    expect((await two.stream('startup=true&scenarios_not_containing=manual')).new).toEqual([])
  })

  it('answers questions about an address, and HEAD without a body or a change', async () => {
    const live = bouncer('live/v1')
    const find = async (query: string) =>
      (await (await live.request(`/v1/decisions?${query}`)).json()) as Decision[] | null
    expect(await find('ip=45.1.0.2')).toMatchObject([{ value: '45.1.0.2', scope: 'Ip' }])
    expect(await find('ip=2a00:1450:9:1::99')).toMatchObject([{ value: '2a00:1450:9:1::/64' }])
    expect(await find('range=45.1.0.0/16')).toHaveLength(1)
    expect(await find('scope=Ip&value=45.1.0.2')).toHaveLength(1)
    for (const query of ['ip=45.1.0.9', 'ip=45.1.0.2&type=captcha', 'scope=username&value=root'])
      expect(await find(query)).toBeNull()
    expect((await live.request('/v1/decisions?ip=nonsense')).status).toBe(400)
    for (const path of ['/v1/decisions', '/v1/decisions/stream?startup=true']) {
      const head = await live.request(path, { method: 'HEAD' })
      expect([head.status, await head.text()]).toEqual([200, ''])
    }
    expect(valuesOf((await live.stream()).new)).toContain('45.1.0.2')
  })

  it('needs a key of the workspace, as CrowdSec says it', async () => {
    const stranger = await portreeve.addPerson('Bob')
    for (const key of ['', 'nonsense', `ar_${'x'.repeat(32)}`]) {
      const answer = await bouncer('x', key).request('/v1/decisions/stream?startup=true')
      expect([answer.status, await answer.json()]).toEqual([403, { message: 'access forbidden' }])
    }
    const other = bouncer('x', await makeKey(stranger))
    expect(await other.stream('startup=true')).toEqual({ new: [], deleted: [] })
  })

  it('contains the shared list only where the workspace chose it', async () => {
    const { pool, close } = openDatabase(portreeve.databaseUrl)
    await pool.query(`insert into abuse_address
      (address, state, score, confidence, evidence, services, networks, published, revision, total_reports, first_reported_at, last_reported_at)
      values ('45.2.0.1', 'listed', 80, 'high', '[]', '{ssh}', 5, true, 1, 1, now(), now())`)
    await close()
    const shared = bouncer('shared/v1')
    expect(valuesOf((await shared.stream('startup=true')).new)).not.toContain('45.2.0.1')
    await ask('', { servesShared: true }, 'PUT')
    const { new: added } = await shared.stream()
    expect(added).toMatchObject([{ value: '45.2.0.1', origin: 'portreeve-shared' }])
    expect(await shared.stream()).toEqual({ new: [], deleted: [] })
    const live = await shared.request('/v1/decisions?ip=45.2.0.1')
    expect(await live.json()).toMatchObject([{ scenario: 'portreeve/shared-list' }])
    await ask('', { servesShared: false }, 'PUT')
    expect(valuesOf((await shared.stream()).deleted)).toEqual(['45.2.0.1'])
  })

  it('stores the metrics of a bouncer', async () => {
    const items = [
      { name: 'dropped', unit: 'packet', value: 7, labels: { origin: 'a' } },
      { name: 'dropped', unit: 'packet', value: 5, labels: { origin: 'b' } },
    ]
    const component = {
      type: 'crowdsec-firewall-bouncer',
      version: 'v0.0.30',
      os: { name: 'debian', version: '12' },
      metrics: [{ meta: { utc_now_timestamp: 1, window_size_seconds: 900 }, items }],
      utc_startup_timestamp: 1,
      feature_flags: [],
    }
    const post = (body: object) =>
      bouncer('metrics/v1').request('/v1/usage-metrics', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    expect((await post({ remediation_components: [component], log_processors: [] })).status).toBe(
      201,
    )
    expect((await post({ remediation_components: [] })).status).toBe(400)
    const bouncers = await ask<{ name: string }[]>('/bouncers')
    expect(bouncers.find(({ name }) => name === 'metrics/v1')).toMatchObject({
      metrics: { type: 'crowdsec-firewall-bouncer', values: { 'dropped packet': 12 } },
    })
  })
})

describe('the firewall bouncer of Debian', () => {
  let network: FleetNetwork
  let machine: Machine
  beforeAll(async () => {
    network = await openFleetNetwork([ATTACKER, EARLIER, STRANGER], () => app?.server)
    machine = await openMachine({ network: true })
    network.connect(machine, SERVER)
    await ban(EARLIER)
    const folder = unpacked('crowdsec-firewall-bouncer')
    machine.write('/run/bouncer.yaml', configuration(), 0o600)
    const program = join(folder, 'usr/bin/crowdsec-firewall-bouncer')
    const running = machine.start([program, '-c', '/run/bouncer.yaml'])
    running.stdout?.resume()
    running.stderr?.resume()
  })
  afterAll(async () => {
    await machine?.close()
    await network?.close()
  })

  const configuration = () => `mode: nftables
pid_dir: /run/
update_frequency: 1s
daemonize: false
log_mode: file
log_dir: /var/log/
log_level: info
api_url: ${REPORTS_URL}/
api_key: ${bouncerKey}
disable_ipv6: false
deny_action: DROP
supported_decisions_types: [ban]
blacklists_ipv4: crowdsec-blacklists
blacklists_ipv6: crowdsec6-blacklists
nftables:
  ipv4: { enabled: true, set-only: false, table: crowdsec, chain: crowdsec-chain }
  ipv6: { enabled: true, set-only: false, table: crowdsec6, chain: crowdsec6-chain }
prometheus: { enabled: false }
`

  it('blocks what is on the list, what is added, and no longer what is removed', async () => {
    const log = () =>
      machine.exists('/var/log/crowdsec-firewall-bouncer.log')
        ? machine.read('/var/log/crowdsec-firewall-bouncer.log')
        : ''
    const knock = (from: string) => network.knock(from, SERVER)
    await expect.poll(() => knock(EARLIER), { timeout: 20_000, message: log() }).toBe('dropped')
    expect(await knock(ATTACKER)).toBe('let in')
    await ban(ATTACKER)
    await expect.poll(() => knock(ATTACKER)).toBe('dropped')
    expect(await knock(STRANGER)).toBe('let in')
    await unban(ATTACKER)
    await expect.poll(() => knock(ATTACKER)).toBe('let in')
    expect(await knock(EARLIER)).toBe('dropped')
    expect(log()).not.toMatch(/level=(error|fatal)/)
  })
})
