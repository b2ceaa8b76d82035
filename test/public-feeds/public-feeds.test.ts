import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { PUBLIC_FEEDS } from '../../src/public-feeds/feed-catalogue.ts'
import { evaluateVersion } from '../../src/public-feeds/evaluate-version.ts'
import { parseFeed } from '../../src/public-feeds/parse-feed.ts'
import { formatNetwork } from '../../src/protocols/networks/network.ts'
import { openDatabase } from '../../src/store/database.ts'
import { startFeedProvider, type FeedProvider } from '../servers/feed-provider.ts'
import { addAdministrator } from '../accounts/sessions.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { itAlone } from '../scaled/alone.ts'

const DROP_V4 = [
  '{"cidr":"1.10.16.0/20","sblid":"SBL256894","rir":"apnic"}',
  '{"cidr":"45.5.0.0/16","sblid":"SBL1","rir":"lacnic"}',
  '{"type":"metadata","timestamp":1725448504,"size":36411,"records":2,"copyright":"(c) 2024 The Spamhaus Project SLU"}',
].join('\n')
const DROP_V6 = '{"cidr":"2a0e:8f02::/32","sblid":"SBL2","rir":"ripencc"}\n{"type":"metadata"}\n'
const DSHIELD = `#   DShield.org Recommended Block List\n#\nStart\tEnd\tNetmask\tAttacks\tName\tCountry\temail\n45.142.193.0\t45.142.193.255\t24\t3046\tNET\tNL\tabuse@example.net\n`

describe('formats of feeds', () => {
  const read = (format: Parameters<typeof parseFeed>[0], ...texts: string[]) => {
    const { networks, skipped } = parseFeed(format, texts)
    return { networks: networks.map(formatNetwork), skipped }
  }

  it('are read as their providers write them', () => {
    expect(read('drop-json', DROP_V4, DROP_V6).networks).toEqual(['1.10.16.0/20', '45.5.0.0/16', '2a0e:8f02::/32']) // prettier-ignore
    expect(read('dshield', DSHIELD).networks).toEqual(['45.142.193.0/24'])
    expect(read('plain', '# FireHOL\r\n0.0.0.0/8\r\n10.0.0.0/8\r\n5.6.7.8\r\n\r\n2a00::1\r\n')).toEqual({ networks: ['5.6.7.8', '2a00::/64'], skipped: 2 }) // prettier-ignore
  })

  it.each([
    ['plain', '<!DOCTYPE html>\n<title>502 Bad Gateway</title>'],
    ['plain', '1.2.3.4\n1.2.3.256\n'],
    ['plain', '1.2.3.4 # a comment\n'],
    ['plain', '64.0.0.0/6\n'],
    ['drop-json', '{"cidr":"1.10.16.0/20"}\n{"error":"rate limited"}'],
    ['drop-json', '{"cidr":"1.10.16.0/20"'],
    ['dshield', '45.142.193.0 45.142.193.255 24\n'],
  ] as const)('reject a version of %s with a line that does not belong', (format, text) => {
    expect(() => parseFeed(format, [text])).toThrow(/^Line \d/)
  })

  it('hold back versions that shrank, grew or are empty, except small ones', () => {
    const evaluate = (before: number | null, after: number, mayBeEmpty = false) =>
      evaluateVersion({ mayBeEmpty }, before, after)
    expect([evaluate(null, 15_000), evaluate(1_000, 500), evaluate(1_000, 5_000)]).toEqual([null, null, null]) // prettier-ignore
    expect([evaluate(1_000, 499), evaluate(1_000, 5_001)]).toEqual(['shrunk', 'grown'])
    expect([evaluate(20, 3), evaluate(3, 20)]).toEqual([null, null])
    expect([evaluate(20, 0), evaluate(20, 0, true)]).toEqual(['malformed', null])
  })

  it('come with terms, removal pages and limits that fit together', () => {
    for (const feed of PUBLIC_FEEDS) {
      expect(feed.urls.every((url) => url.startsWith('https://'))).toBe(true)
      expect(feed.intervalHours).toBeLessThan(feed.staleAfterHours)
      expect(feed.staleAfterHours).toBeLessThan(feed.maxAgeHours)
      expect(feed.terms).not.toBe('')
    }
  })
})

const alone = itAlone('needs other origins of providers')

let provider: FeedProvider
let portreeve: TestService
let database: ReturnType<typeof openDatabase>
let admin: Person
let alice: Person
let charlie: Person
let bouncerKey: string

const TOR = '/torbulkexitlist'
const addresses = (count: number, start = 0) =>
  Array.from(
    { length: count },
    (_, at) => `45.9.${(at + start) >> 8}.${(at + start) & 255}\n`,
  ).join('')

beforeAll(async () => {
  provider = await startFeedProvider()
  portreeve = await startTestService({ TRUSTED_PROXIES: '127.0.0.1' }, undefined, {
    providerOrigins: provider.origins,
  })
  database = openDatabase(portreeve.databaseUrl)
  admin = await addAdministrator(portreeve, 'Ada')
  alice = await portreeve.addPerson('Alice')
  charlie = await portreeve.addPerson('Charlie')
  const made = await send(alice, 'POST', 'fleet/keys', { label: 'web-1' })
  bouncerKey = ((await made.json()) as { data: { key: string } }).data.key
})
afterAll(async () => {
  await portreeve?.stop()
  await database?.close()
  await provider?.stop()
})

const send = (as: Person, method: string, path: string, body?: object) =>
  portreeve.request(`/api/v1/abuse/${path}`, {
    method,
    token: as.token,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })

type Feed = {
  id: string
  state: string
  networks: number
  problem: string | null
  problemText: string
  heldNetworks: number | null
  overlaps: { list: string; networks: number }[]
}

async function feedOf(id: string, as = alice): Promise<Feed> {
  const { data } = (await (await send(as, 'GET', 'feeds')).json()) as { data: Feed[] }
  return data.find((feed) => feed.id === id) as Feed
}

const enable = (id: string, enabled = true) => send(admin, 'PUT', `feeds/${id}`, { enabled })

/** Makes a feed due, as if its interval had passed, and downloads it. */
async function updateAgain(id: string): Promise<void> {
  // An update whose answer has arrived is still being saved, with the time of the next one.
  const claimed = () =>
    database.pool.query('select id from public_feed where claimed_until is not null')
  await vi.waitFor(async () => expect((await claimed()).rows).toEqual([]))
  await database.pool.query("update public_feed set due_at = now() - interval '1 s' where id = $1", [id]) // prettier-ignore
  await enable(id)
}

async function listings(ip: string) {
  const answer = await portreeve.request(`/api/v1/abuse/check?ip=${ip}`)
  const { data } = (await answer.json()) as { data: { score: number; publicFeeds: { id: string; network: string; since: string; removalUrl: string | null }[] } } // prettier-ignore
  return data
}

async function download(query = '', key = bouncerKey, headers: Record<string, string> = {}) {
  return portreeve.request(`/api/v1/abuse/fleet/export${query}`, {
    headers: { 'x-api-key': key, ...headers },
  })
}

const alertsOf = async (as: Person) => {
  const { data } = (await (await portreeve.request('/api/v1/alerts?limit=100', { token: as.token })).json()) as { data: { alerts: { kind: string; title: string }[] } } // prettier-ignore
  return data.alerts.map(({ title }) => title)
}

describe('public feeds', () => {
  alone('are off until an administrator enables them', async () => {
    expect(await feedOf('tor-exits')).toMatchObject({ state: 'off', networks: 0 })
    expect((await send(alice, 'PUT', 'feeds/tor-exits', { enabled: true })).status).toBe(403)
    const refused = await send(alice, 'PUT', 'fleet', { feeds: ['tor-exits'] })
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('is not enabled')]) // prettier-ignore
    expect(provider.requests).toEqual([])
  })

  alone('tell which feeds list an address, and never change its score', async () => {
    provider.files.set('/drop/drop_v4.json', DROP_V4).set('/drop/drop_v6.json', DROP_V6)
    provider.files.set(TOR, addresses(40))
    await Promise.all([enable('spamhaus-drop'), enable('tor-exits')])
    await vi.waitFor(async () => expect((await feedOf('tor-exits')).state).toBe('in-use'), 15_000)
    await vi.waitFor(async () => expect((await listings('45.5.6.7')).publicFeeds).toHaveLength(1))
    const found = await listings('45.5.6.7')
    expect(found).toMatchObject({ score: 0, publicFeeds: [{ id: 'spamhaus-drop', network: '45.5.0.0/16', removalUrl: 'https://check.spamhaus.org/results/?query=45.5.6.7' }] }) // prettier-ignore
    expect(Date.now() - Date.parse(found.publicFeeds[0]?.since ?? '')).toBeLessThan(60_000)
    expect((await listings('2a0e:8f02:1::5')).publicFeeds).toHaveLength(1)
    expect((await listings('9.9.9.1')).publicFeeds).toEqual([])
  })

  alone('are requested with validators, and keep the age of their entries', async () => {
    const before = await listings('45.9.0.3')
    provider.requests.length = 0
    await updateAgain('tor-exits')
    await vi.waitFor(() => expect(provider.requests.map(({ status }) => status)).toEqual([304]))
    await database.pool.query("update public_feed set changed_at = now() - interval '1 hour' where id = 'tor-exits'") // prettier-ignore
    provider.files.set(TOR, addresses(60))
    await updateAgain('tor-exits')
    await vi.waitFor(async () => expect((await feedOf('tor-exits')).networks).toBe(60))
    await vi.waitFor(async () => expect((await listings('45.9.0.50')).publicFeeds).toHaveLength(1))
    expect((await listings('45.9.0.3')).publicFeeds[0]?.since).toBe(before.publicFeeds[0]?.since)
  })

  alone('hold back a version that shrank until an administrator accepts it', async () => {
    expect((await send(alice, 'PUT', 'fleet', { feeds: ['tor-exits'] })).status).toBe(200)
    provider.files.set(TOR, addresses(25))
    await updateAgain('tor-exits')
    await vi.waitFor(async () => expect((await feedOf('tor-exits')).problem).toBe('shrunk'))
    expect(await feedOf('tor-exits')).toMatchObject({ networks: 60, heldNetworks: 25, state: 'in-use' }) // prettier-ignore
    expect((await listings('45.9.0.50')).publicFeeds).toHaveLength(1)
    const title = 'The feed Tor exit nodes shrank to less than half'
    expect([await alertsOf(alice), await alertsOf(admin), await alertsOf(charlie)]).toEqual([[title], [title], []]) // prettier-ignore
    // The same version again is no news.
    await updateAgain('tor-exits')
    expect((await send(alice, 'POST', 'feeds/tor-exits/accept')).status).toBe(403)
    expect((await send(admin, 'POST', 'feeds/tor-exits/accept')).status).toBe(200)
    expect(await feedOf('tor-exits')).toMatchObject({ networks: 25, heldNetworks: null, problem: null }) // prettier-ignore
    await vi.waitFor(async () => expect((await listings('45.9.0.50')).publicFeeds).toEqual([]))
    expect((await alertsOf(alice))[0]).toBe('Resolved: the feed Tor exit nodes is up to date')
    expect((await send(admin, 'POST', 'feeds/tor-exits/accept')).status).toBe(409)
  })

  alone('keep the last good version when a new one is malformed, missing or old', async () => {
    provider.files.set(TOR, '<html>maintenance</html>')
    await updateAgain('tor-exits')
    await vi.waitFor(async () => expect((await feedOf('tor-exits')).problem).toBe('malformed'))
    expect((await feedOf('tor-exits')).problemText).toContain('Line 1 is not a network: <html>')
    provider.files.set(TOR, 429)
    for (const failures of [1, 2, 3]) {
      await updateAgain('tor-exits')
      await vi.waitFor(async () => {
        const { rows } = await database.pool.query("select failures, due_at > now() + interval '110 min' as waits from public_feed where id = 'tor-exits'") // prettier-ignore
        expect(rows).toEqual([{ failures, waits: true }])
      })
    }
    expect(await feedOf('tor-exits')).toMatchObject({ problem: 'unreachable', problemText: expect.stringContaining('429'), networks: 25 }) // prettier-ignore
    provider.files.set(TOR, addresses(25))
    await database.pool.query("update public_feed set changed_at = now() - interval '13 hours' where id = 'tor-exits'") // prettier-ignore
    await updateAgain('tor-exits')
    await vi.waitFor(async () => expect((await feedOf('tor-exits')).problem).toBe('outdated'))
    expect((await feedOf('tor-exits')).state).toBe('in-use')
    await database.pool.query("update public_feed set changed_at = now() - interval '49 hours' where id = 'tor-exits'") // prettier-ignore
    await updateAgain('tor-exits')
    await vi.waitFor(async () => expect((await listings('45.9.0.3')).publicFeeds).toEqual([]))
    expect((await feedOf('tor-exits')).state).toBe('expired')
  })
})

describe('a bouncer', () => {
  type Decision = { value: string; origin: string; scenario: string; scope: string }
  type Stream = { new: Decision[]; deleted: Decision[] }
  const valuesOf = (decisions: Decision[]) => decisions.map(({ value }) => value).toSorted()
  async function ask<T>(path: string): Promise<T> {
    const headers = { 'x-api-key': bouncerKey, 'user-agent': 'bouncer/1' }
    return (await (await portreeve.request(`/v1/decisions${path}`, { headers })).json()) as T
  }
  async function changes() {
    const stream = await ask<Stream>('/stream')
    return { new: valuesOf(stream.new), deleted: valuesOf(stream.deleted) }
  }
  const unban = () => send(alice, 'DELETE', 'fleet/bans')

  alone('gets the chosen feeds with their names, then what changed in them', async () => {
    await enable('tor-exits', false)
    provider.files.set(TOR, '45.9.0.1\n45.9.0.2\n45.9.0.3\n')
    await updateAgain('tor-exits')
    await vi.waitFor(async () => expect((await feedOf('tor-exits')).networks).toBe(3))
    const chosen = await send(alice, 'PUT', 'fleet', { feeds: ['tor-exits', 'spamhaus-drop'] })
    expect(await chosen.json()).toMatchObject({ data: { feedNetworks: 6, feedsLeftOut: [] } })
    const all = ['1.10.16.0/20', '2a0e:8f02::/32', '45.5.0.0/16', '45.9.0.1', '45.9.0.2', '45.9.0.3'] // prettier-ignore
    const started = await ask<Stream>('/stream?startup=true')
    expect(valuesOf(started.new)).toEqual(all)
    expect(started.new[0]).toMatchObject({ origin: 'lists', scenario: 'spamhaus-drop', value: '1.10.16.0/20', scope: 'Range' }) // prettier-ignore
    expect((await ask<Stream>('/stream?startup=true&origins=portreeve-fleet')).new).toEqual([])
    expect(await ask('?ip=45.5.6.7')).toMatchObject([{ value: '45.5.0.0/16', origin: 'lists' }])
    await ask('/stream?startup=true')
    expect(await changes()).toEqual({ new: [], deleted: [] })
    // What a bouncer has is stored, and so are versions that were replaced.
    await vi.waitFor(async () => {
      const { rows } = await database.pool.query('select 1 from fleet_bouncer where feeds is not null') // prettier-ignore
      expect(rows).toHaveLength(1)
    })
    provider.files.set(TOR, '45.9.0.2\n45.9.0.3\n45.9.0.4\n')
    await updateAgain('tor-exits')
    await vi.waitFor(async () => expect((await listings('45.9.0.4')).publicFeeds).toHaveLength(1))
    await portreeve.pause()
    await portreeve.resume()
    expect(await changes()).toEqual({ new: ['45.9.0.4'], deleted: ['45.9.0.1'] })
  })

  alone('keeps an address that another of its lists has, and never gets allowed ones', async () => {
    await send(alice, 'POST', 'fleet/bans', { ip: '45.9.0.2', seconds: 3_600 })
    expect(await changes()).toEqual({ new: ['45.9.0.2'], deleted: [] })
    await unban()
    const { new: renewed, deleted } = await ask<Stream>('/stream')
    expect([renewed, deleted]).toMatchObject([[{ value: '45.9.0.2', scenario: 'tor-exits' }], []])
    await send(alice, 'POST', 'fleet/bans', { ip: '45.9.0.3', seconds: 3_600 })
    await changes()
    const allowed = await send(alice, 'POST', 'fleet/allowlist', { cidr: '45.5.128.0/17' })
    const { data } = (await allowed.json()) as { data: { id: string } }
    const split = { new: ['45.5.0.0/17'], deleted: ['45.5.0.0/16'] }
    await expect.poll(changes, { interval: 500 }).toEqual(split)
    await send(alice, 'PUT', 'fleet', { feeds: ['spamhaus-drop'] })
    expect(await changes()).toEqual({ new: ['45.9.0.3'], deleted: ['45.9.0.2', '45.9.0.4'] })
    await send(alice, 'PUT', 'fleet', { feeds: [] })
    await send(alice, 'DELETE', `fleet/allowlist/${data.id}`)
    expect(await changes()).toEqual({ new: [], deleted: ['1.10.16.0/20', '2a0e:8f02::/32', '45.5.0.0/17'] }) // prettier-ignore
    await unban()
  })
})

describe('the export of a fleet', () => {
  alone('contains bans and chosen feeds, without allowed and own networks', async () => {
    await send(alice, 'PUT', 'fleet', { feeds: ['spamhaus-drop'] })
    await send(alice, 'POST', 'fleet/bans', { ip: '9.7.7.7' })
    await send(alice, 'POST', 'fleet/allowlist', { cidr: '45.5.128.0/17' })
    expect((await send(admin, 'POST', 'whitelist', { cidr: '1.10.16.0/21' })).status).toBe(201)
    const list = async (query = '') =>
      (await (await download(query)).text()).split('\n').slice(0, -1)
    await vi.waitFor(async () => expect(await list()).toEqual(['1.10.24.0/21', '9.7.7.7', '45.5.0.0/17', '2a0e:8f02::/32'])) // prettier-ignore
    expect(await list('?feeds=')).toEqual(['9.7.7.7'])
    const json = (await (await download('?format=json')).json()) as { data: object }
    expect(json.data).toMatchObject({ count: 4, networks: expect.arrayContaining([{ network: '9.7.7.7', sources: ['fleet'] }]) }) // prettier-ignore
    for (const format of ['nftables', 'ipset', 'nginx', 'rbldnsd', 'csv'])
      expect(await (await download(`?format=${format}`)).text()).toContain('45.5.0.0/17')
    const feed = await feedOf('spamhaus-drop')
    expect(feed.overlaps).toEqual([])
  })

  alone('needs a bouncer key, and answers 304 while nothing has changed', async () => {
    expect((await portreeve.request('/api/v1/abuse/fleet/export')).status).toBe(401)
    expect((await download('?feeds=nonsense')).status).toBe(400)
    const basic = `Basic ${Buffer.from(`any:${bouncerKey}`).toString('base64')}`
    const first = await portreeve.request('/api/v1/abuse/fleet/export', { headers: { authorization: basic } }) // prettier-ignore
    expect(first.status).toBe(200)
    const known = { 'if-none-match': first.headers.get('etag') ?? '' }
    expect((await download('', bouncerKey, known)).status).toBe(304)
    expect((await send(alice, 'POST', 'fleet/bans', { ip: '45.5.1.1' })).status).toBe(201)
    expect((await download('', bouncerKey, known)).status).toBe(304)
    await send(alice, 'POST', 'fleet/bans', { ip: '9.7.7.8' })
    expect((await download('', bouncerKey, known)).status).toBe(200)
    await vi.waitFor(async () =>
      expect((await feedOf('spamhaus-drop')).overlaps).toEqual([{ list: 'fleet', networks: 1 }]),
    )
    const made = await send(charlie, 'POST', 'fleet/keys', { label: 'web-2' })
    const others = ((await made.json()) as { data: { key: string } }).data.key
    expect(await (await download('', others)).text()).toBe('')
  })

  alone('loses a feed that is disabled', async () => {
    expect((await enable('spamhaus-drop', false)).status).toBe(200)
    await vi.waitFor(async () => expect(await (await download()).text()).toBe('9.7.7.7\n9.7.7.8\n45.5.1.1\n')) // prettier-ignore
    expect(await feedOf('spamhaus-drop')).toMatchObject({ state: 'off', networks: 0 })
  })
})
