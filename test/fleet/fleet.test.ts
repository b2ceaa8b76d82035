import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readEvents } from '../../src/net/http/event-stream.ts'
import { openDatabase } from '../../src/store/database.ts'
import { startTestService, type Person, type TestService } from '../service.ts'

type Delta = {
  cursor: number
  complete: boolean
  added: { ip: string; seconds: number; expiresAt: string }[]
  removed: string[]
}

let portreeve: TestService
let alice: Person
let bob: Person
/** Report tokens and bouncer keys of both workspaces. */
let ours: string
let theirs: string
let ourKey: string
let theirKey: string

beforeAll(async () => {
  portreeve = await startTestService({ TRUSTED_PROXIES: '127.0.0.1', REQUEST_LIMITS: 'off' })
  alice = await portreeve.addPerson('Alice')
  bob = await portreeve.addPerson('Bob')
  ours = await tokenOf(alice)
  theirs = await tokenOf(bob)
  ourKey = (await keyOf(alice)).key
  theirKey = (await keyOf(bob)).key
})
afterAll(() => portreeve?.stop())

const SERVER = '91.1.2.3'
let used = 0
/** An attacker that no other test uses. */
const fresh = () => `9.7.${(used += 1) >> 8}.${used & 255}`

type Asked = {
  as?: Person
  token?: string
  key?: string
  from?: string
  method?: string
  body?: object
}

function ask(path: string, { as, token, key, from = SERVER, method, body }: Asked = {}) {
  return portreeve.request(`/api/v1/abuse/${path}`, {
    method: method ?? (body ? 'POST' : 'GET'),
    headers: {
      'x-forwarded-for': from,
      ...(token && { 'x-report-token': token }),
      ...(key && { 'x-api-key': key }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
    ...(as && { token: as.token }),
  })
}

async function read<T>(path: string, asked: Asked = {}): Promise<T> {
  const answer = await ask(path, asked)
  const { success, data, error } = (await answer.json()) as {
    success: boolean
    data: T
    error?: string
  }
  expect(error ?? success).toBe(true)
  return data
}

async function tokenOf(person: Person): Promise<string> {
  const answer = await ask('tokens', { as: person, body: { label: `server of ${person.email}` } })
  return ((await answer.json()) as { token: string }).token
}

const keyOf = (person: Person) =>
  read<{ id: string; key: string }>('fleet/keys', { as: person, body: { label: 'firewall' } })

const report = (ip: string, { token = ours, from = SERVER, service = 'ssh', count = 5 } = {}) =>
  ask('report', { token, from, body: { ip, service, count } })

const list = async (key = ourKey, since?: number) =>
  read<Delta>(`fleet/list${since === undefined ? '' : `?since=${since}`}`, { key })
const listed = async (key = ourKey) => (await list(key)).added.map(({ ip }) => ip)

type BanPage = { bans: { id: string; address: string; expiresAt: string; servers: string[] }[] }
const banOf = async (address: string) =>
  (await read<BanPage>(`fleet/bans?q=${encodeURIComponent(address)}`, { as: alice })).bans[0]

describe('the fleet list', () => {
  it('contains what a server of the workspace reported, for this workspace alone', async () => {
    const ip = fresh()
    expect((await report(ip)).status).toBe(200)
    const { added } = await list()
    expect(added.find((entry) => entry.ip === ip)).toMatchObject({
      seconds: expect.closeTo(4 * 3_600, -1),
    })
    expect(await listed(theirKey)).not.toContain(ip)
    expect(await banOf(ip)).toMatchObject({ servers: ['server of alice@people.test'] })
    expect(await read<BanPage>('fleet/bans', { as: bob })).toMatchObject({ bans: [] })
  })

  it('is private: without a token of the workspace there is nothing', async () => {
    for (const path of ['fleet/list', 'fleet/events'])
      for (const token of [undefined, 'nonsense', `ar_${'x'.repeat(32)}`]) {
        const answer = await ask(path, token === undefined ? {} : { token })
        expect(answer.status).toBe(401)
      }
  })

  it('is opened by a bouncer key, which does nothing else, and by no report token', async () => {
    for (const path of ['fleet/list', 'fleet/events'])
      expect((await ask(path, { token: ours, key: ours })).status).toBe(401)
    expect((await ask(`tokens/${ourKey}`)).status).toBe(404)
    const ip = fresh()
    expect(await (await report(ip, { token: ourKey })).json()).toMatchObject({
      warning: expect.stringContaining('anonymous'),
    })
    expect(await listed()).not.toContain(ip)
    const keys = await read<object[]>('fleet/keys', { as: alice })
    expect(keys).toMatchObject([{ label: 'firewall', lastFour: ourKey.slice(-4) }])
    const tokens = await (await ask('tokens', { as: alice })).json()
    expect(tokens).toMatchObject({ data: [{ lastFour: ours.slice(-4) }] })
  })

  it('stays open to a report token that followed it before there were keys', async () => {
    const { pool, close } = openDatabase(portreeve.databaseUrl)
    const token = await tokenOf(bob)
    await pool.query('update abuse_token set reads_fleet = true where last_four = $1', [token.slice(-4)]) // prettier-ignore
    await close()
    expect((await ask('fleet/list', { token })).status).toBe(200)
  })

  it('has a badge when a member wants one, and metrics for a bouncer key', async () => {
    const settings = async (badge: boolean) => {
      const answer = await ask('fleet', { as: bob, method: 'PUT', body: { badge } })
      return ((await answer.json()) as { data: { badgeId: string | null } }).data.badgeId
    }
    const id = await settings(true)
    const svg = await ask(`badges/${id}.svg`)
    expect(svg.headers.get('content-type')).toBe('image/svg+xml')
    expect(await svg.text()).toMatch(/^<svg [^]*attackers blocked: \d+[^]*<\/svg>\n$/)
    expect(await (await ask(`badges/${id}.svg?show=reports`)).text()).toContain('reported today')
    const second = await settings(true)
    expect(await settings(false)).toBeNull()
    for (const gone of [second, 'x', '0'.repeat(36)])
      expect((await ask(`badges/${gone}.svg`)).status).toBe(404)
    const metrics = await ask('fleet/metrics', { key: ourKey })
    expect(await metrics.text()).toMatch(
      /^portreeve_fleet_bans \d+$[^]*^portreeve_fleet_reports\{id="[^"]+",server="server of alice@people\.test"\} \d+$/m,
    )
    expect((await ask('fleet/metrics')).status).toBe(401)
  })

  it('lists IPv6 attackers by /64, and several reports in one request', async () => {
    const lines = ['2a00:1450:9:1::5', fresh()].map((ip) => JSON.stringify({ ip, service: 'imap' }))
    const answer = await portreeve.request('/api/v1/abuse/report/bulk', {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', 'x-report-token': ours },
      body: lines.join('\n'),
    })
    expect(answer.status).toBe(200)
    expect(await listed()).toEqual(expect.arrayContaining(['2a00:1450:9:1::/64']))
  })

  it('returns changes since a cursor, and everything for a cursor it does not know', async () => {
    const [first, second] = [fresh(), fresh()]
    await report(first)
    const { cursor } = await list()
    expect(await list(ourKey, cursor)).toEqual({ cursor, complete: false, added: [], removed: [] })
    await report(second)
    await ask(`fleet/bans/${(await banOf(first))?.id}`, { as: alice, method: 'DELETE' })
    const delta = await list(ourKey, cursor)
    expect(delta).toMatchObject({ complete: false, removed: [first], added: [{ ip: second }] })
    expect(await list(ourKey, delta.cursor + 1_000)).toMatchObject({ complete: true })
  })

  it('follows its rules: services, minimum count, and the length of a ban', async () => {
    const rules = [
      { services: ['sshd'], minCount: 6, windowSeconds: 600, banSeconds: 60, growth: 2, maxBanSeconds: 600 }, // prettier-ignore
    ]
    const changed = await ask('fleet', { as: bob, method: 'PUT', body: { rules } })
    expect(await changed.json()).toMatchObject({ data: { rules: [{ services: ['ssh'] }] } })
    const ip = fresh()
    await report(ip, { token: theirs, service: 'imap', count: 100 })
    await report(ip, { token: theirs })
    expect(await listed(theirKey)).toEqual([])
    await report(ip, { token: theirs })
    expect(await list(theirKey)).toMatchObject({ added: [{ ip, seconds: 60 }] })
    const bad = { rules: [{ ...rules[0], services: ['no-such-service'] }] }
    expect((await ask('fleet', { as: bob, method: 'PUT', body: bad })).status).toBe(400)
    const unchanged = await ask('fleet', { as: bob, method: 'PUT', body: {} })
    expect(await unchanged.json()).toMatchObject({ data: { rules: [{ services: ['ssh'] }] } })
    await ask('fleet', { as: bob, method: 'PUT', body: { rules: null } })
  })

  it('never contains allowed networks, and unbans what becomes allowed', async () => {
    const [before, after] = ['9.8.1.1', '9.8.1.2']
    await report(before)
    const network = await read<{ id: string; network: string }>('fleet/allowlist', {
      as: alice,
      body: { cidr: '9.8.1.77/24', label: 'Office' },
    })
    expect(network.network).toBe('9.8.1.0/24')
    await report(after)
    const refused = await ask('fleet/bans', { as: alice, body: { ip: after } })
    expect([refused.status, ((await refused.json()) as { error: string }).error]).toEqual([
      400,
      '9.8.1.2 is on the allowlist of the workspace and is never banned.',
    ])
    for (const ip of [before, after]) expect(await listed()).not.toContain(ip)
    for (const cidr of ['0.0.0.0/0', '::/0', '9.0.0.0/7', 'nonsense']) {
      expect((await ask('fleet/allowlist', { as: alice, body: { cidr } })).status).toBe(400)
    }
    const path = `fleet/allowlist/${network.id}`
    expect((await ask(path, { as: bob, method: 'DELETE' })).status).toBe(404)
    expect((await ask(path, { as: alice, method: 'DELETE' })).status).toBe(200)
    await report(after)
    expect(await listed()).toContain(after)
  })

  it('never contains servers, signed-in members, well-known networks and private ranges', async () => {
    const member = '93.1.2.3'
    const signedIn = await portreeve.request('/api/auth/sign-in/email', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': member },
      body: JSON.stringify({ email: alice.email, password: alice.password }),
    })
    expect(signedIn.status).toBe(200)
    await list()
    for (const ip of [SERVER, member, '8.8.8.8']) await report(ip, { from: '94.1.2.3' })
    await report('94.1.2.3', { from: '94.1.2.3' })
    for (const ip of ['10.1.2.3', '127.0.0.1', '192.168.1.1', '::1', '0.0.0.0'])
      expect((await report(ip)).status).toBe(400)
    const addresses = await listed()
    for (const ip of [SERVER, member, '8.8.8.8', '94.1.2.3']) expect(addresses).not.toContain(ip)
    const { automatic } = await read<{ automatic: { members: string[]; servers: string[] } }>(
      'fleet/allowlist',
      { as: alice },
    )
    expect(automatic.members).toEqual([member])
    expect(automatic.servers).toEqual(expect.arrayContaining([SERVER, '94.1.2.3']))
  })

  it('unbans a server that begins to report or follow while it is banned', async () => {
    const late = '95.1.2.3'
    await report(late)
    expect(await listed()).toContain(late)
    await ask('fleet/list', { key: ourKey, from: late })
    await expect.poll(() => listed()).not.toContain(late)
  })

  it('records who caused what, and lets members ban and unban', async () => {
    const ip = fresh()
    await report(ip, { service: 'postfix-sasl', count: 7 })
    const { id } = (await banOf(ip)) as { id: string }
    expect((await ask(`fleet/bans/${id}`, { as: bob, method: 'DELETE' })).status).toBe(404)
    expect((await ask(`fleet/bans/${id}`, { as: alice, method: 'DELETE' })).status).toBe(200)
    expect((await ask(`fleet/bans/${id}`, { as: alice, method: 'DELETE' })).status).toBe(404)
    await read('fleet/bans', { as: alice, body: { ip, seconds: 3_600, reason: 'Scraper' } })
    const { changes } = await read<{ changes: object[] }>(`fleet/history?ip=${ip}`, { as: alice })
    expect(changes).toMatchObject([
      { kind: 'banned', cause: { by: 'member', member: 'Alice', reason: 'Scraper' } },
      { kind: 'unbanned', cause: { by: 'member', member: 'Alice' }, expiresAt: null },
      {
        kind: 'banned',
        address: ip,
        cause: {
          by: 'report',
          token: 'server of alice@people.test',
          service: 'smtp-auth',
          count: 7,
        },
      },
    ])
    expect(await read(`fleet/history?ip=${ip}`, { as: bob })).toEqual({ changes: [] })
  })

  it('ends bans by their time, and tells it', async () => {
    const ip = fresh()
    await report(ip)
    const { cursor } = await list()
    const { pool, close } = openDatabase(portreeve.databaseUrl)
    await pool.query('update fleet_ban set expires_at = now() where address = $1', [ip])
    await close()
    expect(await listed()).not.toContain(ip)
    await expect.poll(async () => (await list(ourKey, cursor)).removed).toEqual([ip])
  })

  it('changes nothing in the shared list', async () => {
    const [withToken, without] = [fresh(), fresh()]
    const OWN = ['ip', 'network', 'at', 'reporter', 'firstReportedAt', 'lastReportedAt']
    const check = async (ip: string) =>
      JSON.stringify(await read(`check?ip=${ip}`), (key, value: unknown) =>
        OWN.includes(key) ? undefined : value,
      )
    const first = (await (await report(withToken)).json()) as object
    const anonymous = await ask('report', {
      body: { ip: without, service: 'ssh', count: 5 },
    })
    const { server, ...sameFor } = (await anonymous.json()) as { server?: string }
    expect({ ...sameFor, server: 'server of alice@people.test' }).toEqual({ ...first, ip: without })
    expect(server).toBeUndefined()
    expect(await listed()).not.toContain(without)
    const before = await check(without)
    expect(await check(withToken)).toEqual(before)
    await read('fleet/bans', { as: alice, body: { ip: without } })
    await ask(`fleet/bans/${(await banOf(withToken))?.id}`, { as: alice, method: 'DELETE' })
    expect(await check(without)).toEqual(before)
    expect(await check(withToken)).toEqual(before)
  })
})

describe('a follower', () => {
  async function follow(key: string, lastEventId?: number) {
    const stopping = new AbortController()
    const response = await portreeve.request('/api/v1/abuse/fleet/events', {
      headers: {
        'x-api-key': key,
        'x-forwarded-for': '96.1.2.3',
        'user-agent': 'a-follower/1',
        ...(lastEventId !== undefined && { 'last-event-id': String(lastEventId) }),
      },
      signal: stopping.signal,
    })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const text = response.body?.pipeThrough(new TextDecoderStream()) as AsyncIterable<string>
    const events = readEvents(text)
    return {
      async next(): Promise<Delta> {
        const { value } = await events.next()
        if (!value) throw new Error('the stream ended')
        const delta = JSON.parse(value.data) as Delta
        expect(Number(value.id)).toBe(delta.cursor)
        return delta
      },
      stop: () => stopping.abort(),
    }
  }

  it('gets the whole list, then every change within a second', async () => {
    const follower = await follow(ourKey)
    expect(await follower.next()).toMatchObject({ complete: true, removed: [] })
    const ip = fresh()
    const reportedAt = performance.now()
    await report(ip)
    expect(await follower.next()).toMatchObject({ complete: false, added: [{ ip }] })
    expect(performance.now() - reportedAt).toBeLessThan(10_000)
    await ask(`fleet/bans/${(await banOf(ip))?.id}`, { as: alice, method: 'DELETE' })
    expect(await follower.next()).toMatchObject({ added: [], removed: [ip] })
    follower.stop()
    const servers = () => read<object[]>('fleet/servers', { as: alice })
    await expect
      .poll(servers)
      .toContainEqual(expect.objectContaining({ address: '96.1.2.3', client: 'a-follower/1' }))
  })

  it('resumes without loss where it was interrupted', async () => {
    const first = await follow(ourKey)
    const { cursor } = await first.next()
    first.stop()
    const missed = [fresh(), fresh()]
    for (const ip of missed) await report(ip)
    const second = await follow(ourKey, cursor)
    const delta = await second.next()
    expect(delta).toMatchObject({ complete: false, removed: [] })
    expect(delta.added.map(({ ip }) => ip).toSorted()).toEqual(missed)
    second.stop()
  })

  it('is disconnected when its key is revoked', async () => {
    const { id, key } = await keyOf(alice)
    const follower = await follow(key)
    await follower.next()
    expect((await ask(`fleet/keys/${id}`, { as: bob, method: 'DELETE' })).status).toBe(404)
    await ask(`fleet/keys/${id}`, { as: alice, method: 'DELETE' })
    await expect(follower.next()).rejects.toThrow()
    expect((await ask('fleet/list', { key })).status).toBe(401)
  })
})
