import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { mispErrors, stixErrors } from './threat-intelligence.ts'
import { addAdministrator } from '../accounts/sessions.ts'
import { startTestService, type Person, type TestService } from '../service.ts'

const TAXII = 'application/taxii+json;version=2.1'
const SENSORS = ['91.1.2.3', '92.2.3.4', '93.3.4.5']
const LISTED = ['9.5.1.1', '9.5.1.2', '2a00:1450:7:1::/64']

let portreeve: TestService
let alice: Person
let key: string
beforeAll(async () => {
  portreeve = await startTestService({ TRUSTED_PROXIES: '127.0.0.1', REQUEST_LIMITS: 'off' })
  alice = await addAdministrator(portreeve, 'Alice')
  key = (await post('fleet/keys', {})).data['key'] as string
  for (const cidr of SENSORS) await post('sensors', { cidr, label: 'sensor' })
  for (const ip of ['9.5.1.1', '9.5.1.2', '2a00:1450:7:1::5'])
    for (const from of SENSORS) await post('report', { ip, service: 'ssh', count: 50 }, from)
  await post('fleet/bans', { ip: '9.5.2.1', seconds: 3_600 })
  await post('fleet/bans', { ip: '9.5.2.2', seconds: 3_600 })
  const list = async () => (await (await get('/api/v1/abuse/export')).text()).trim().split('\n')
  await vi.waitFor(async () => expect(await list()).toEqual(LISTED), { timeout: 30_000 })
})
afterAll(() => portreeve?.stop())

type Body = { data: Record<string, unknown> }

async function post(path: string, body: object, from = '81.2.69.160'): Promise<Body> {
  const answer = await portreeve.request(`/api/v1/abuse/${path}`, {
    method: 'POST',
    token: alice.token,
    headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
    body: JSON.stringify(body),
  })
  expect([path, answer.status < 300]).toEqual([path, true])
  return (await answer.json()) as Body
}

const get = (path: string, headers: Record<string, string> = {}) =>
  portreeve.request(path, { headers })

const basic = () => ({
  authorization: `Basic ${Buffer.from(`firewall:${key}`).toString('base64')}`,
})

/** Sends the ETag of an answer again. */
async function isConditional(path: string, headers: Record<string, string> = {}): Promise<boolean> {
  const etag = (await get(path, headers)).headers.get('etag') ?? 'none'
  return (await get(path, { ...headers, 'if-none-match': etag })).status === 304
}

/** What the service writes of what STIX allows: one address or network, and IDs that never change. */
const OWN_PATTERN = /^\[ipv[46]-addr:value (=|ISSUBSET) '[0-9a-f.:/]+'\]$/
const OWN_ID = /^(identity|indicator)--[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/ // prettier-ignore

type StixObject = { type: string; id: string; pattern: string; valid_from: string; valid_until: string; revoked?: boolean; modified: string } // prettier-ignore
type Envelope = { more?: boolean; next?: string; objects?: StixObject[] }
/** The fields of all answers that these tests read. */
type TaxiiBody = Envelope & { default: string; api_roots: string[]; collections: { id: string; title: string }[] } // prettier-ignore

describe('the TAXII 2.1 server', () => {
  const taxii = async (
    path: string,
    headers: Record<string, string> = {},
  ): Promise<{ body: TaxiiBody; headers: Headers }> => {
    const url = new URL(path, portreeve.url)
    const answer = await get(url.pathname + url.search, { accept: TAXII, ...headers })
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 200, TAXII])
    return { body: (await answer.json()) as TaxiiBody, headers: answer.headers }
  }
  const collections = async (headers = {}) => {
    const { body } = await taxii('/taxii2/')
    expect(body.api_roots).toEqual([body.default])
    const root = new URL(body.default).pathname
    expect((await taxii(root)).body).toMatchObject({ versions: [TAXII] })
    const found = await taxii(`${root}collections/`, headers) // prettier-ignore
    return found.body.collections.map(({ id, title }) => ({ title, url: `${root}collections/${id}/` })) // prettier-ignore
  }

  it('offers the blocklist to everyone, in pages of valid STIX 2.1 objects', async () => {
    const [shared] = await collections()
    expect((await taxii(shared?.url ?? '')).body).toMatchObject({ can_read: true, can_write: false }) // prettier-ignore
    const objects: StixObject[] = []
    let next: string | undefined = ''
    let lastAdded = ''
    while (next !== undefined) {
      const query: string = next === '' ? '' : `&next=${next}`
      const page: { body: TaxiiBody; headers: Headers } = await taxii(
        `${shared?.url}objects/?limit=2${query}`,
      )
      objects.push(...(page.body.objects ?? []))
      lastAdded = page.headers.get('x-taxii-date-added-last') ?? ''
      expect(page.body.more === true).toBe(page.body.next !== undefined)
      next = page.body.next
    }
    expect(stixErrors({ type: 'indicator' })).not.toEqual([])
    const indicators = objects.filter(({ type }) => type === 'indicator')
    expect(indicators.map(({ pattern }) => pattern).toSorted()).toEqual([
      "[ipv4-addr:value = '9.5.1.1']",
      "[ipv4-addr:value = '9.5.1.2']",
      "[ipv6-addr:value ISSUBSET '2a00:1450:7:1::/64']",
    ])
    for (const object of objects) {
      expect(stixErrors(object)).toEqual([])
      expect(object.id).toMatch(OWN_ID)
      if (object.type === 'indicator') expect(object.pattern).toMatch(OWN_PATTERN)
    }
    for (const { valid_from: from, valid_until: until } of indicators)
      expect(Date.parse(until)).toBeGreaterThan(Date.parse(from))
    const after = await taxii(`${shared?.url}objects/?added_after=${lastAdded}`)
    expect(after.body).toEqual({})
    const manifest = await taxii(`${shared?.url}manifest/?match[type]=indicator`) // prettier-ignore
    expect((manifest.body.objects ?? []).map(({ id }) => id).toSorted()).toEqual(
      indicators.map(({ id }) => id).toSorted(),
    )
    const [first] = indicators
    const one = await taxii(`${shared?.url}objects/${first?.id}/`)
    expect(one.body.objects).toEqual([first])
    expect((await taxii(`${shared?.url}objects/${first?.id}/versions/`)).body).toEqual({
      versions: [first?.modified],
    })
    expect(await isConditional(`${shared?.url}objects/`, { accept: TAXII })).toBe(true)
  })

  it('offers the fleet list to a bouncer key alone, and revokes what is unbanned', async () => {
    expect(await collections()).toHaveLength(1)
    const fleet = (await collections(basic())).find(({ title }) => title === 'Fleet list')
    expect((await get(`${fleet?.url}objects/`, { accept: TAXII })).status).toBe(401)
    const objects = async () =>
      (await taxii(`${fleet?.url}objects/?match[type]=indicator`, basic())).body.objects
    expect((await objects())?.map(({ pattern }) => pattern)).toEqual([
      "[ipv4-addr:value = '9.5.2.1']",
      "[ipv4-addr:value = '9.5.2.2']",
    ])
    const bans = await portreeve.request('/api/v1/abuse/fleet/bans?q=9.5.2.2', { token: alice.token }) // prettier-ignore
    const { data } = (await bans.json()) as { data: { bans: { id: string }[] } }
    await portreeve.request(`/api/v1/abuse/fleet/bans/${data.bans[0]?.id}`, { method: 'DELETE', token: alice.token }) // prettier-ignore
    const revoked = async () => (await objects())?.map((object) => object.revoked ?? false)
    // A list is used for a moment after it was read.
    await expect.poll(revoked).toEqual([false, true])
    for (const object of (await objects()) ?? []) expect(stixErrors(object)).toEqual([])
  })

  it('fails as TAXII has it', async () => {
    const [shared] = await collections()
    const failure = async (path: string, accept = TAXII) => {
      const answer = await get(path, { accept })
      expect(answer.headers.get('content-type')).toBe(TAXII)
      expect(await answer.json()).toMatchObject({ http_status: String(answer.status) })
      return answer.status
    }
    expect(await failure('/taxii2/', 'application/taxii+json;version=2.0')).toBe(406)
    expect(await failure('/taxii2/', 'text/html')).toBe(406)
    expect(await failure(`${shared?.url}objects/?added_after=yesterday`)).toBe(400)
    expect(await failure(`${shared?.url}objects/?next=x`)).toBe(400)
    expect(await failure(`${shared?.url}objects/indicator--x/`)).toBe(404)
  })
})

describe('the feed for MISP', () => {
  it('has a manifest, events and hashes that belong together, of both lists', async () => {
    for (const [base, headers, addresses] of [
      ['/api/v1/abuse/misp', {}, LISTED],
      ['/api/v1/abuse/fleet/misp', basic(), ['9.5.2.1']],
    ] as const) {
      const json = async <T>(path: string) =>
        (await (await get(`${base}/${path}`, headers)).json()) as T
      type Head = { info: string; date: string; timestamp: string; Orgc: { uuid: string }; Tag: object[] } // prettier-ignore
      type Attribute = { uuid: string; type: string; value: string; to_ids: boolean }
      const manifest = await json<Record<string, Head>>('manifest.json')
      const found: string[] = []
      for (const [uuid, head] of Object.entries(manifest)) {
        const whole = await json<{ Event: Head & { uuid: string; Attribute: Attribute[] } }>(`${uuid}.json`) // prettier-ignore
        expect(mispErrors(whole)).toEqual([])
        expect(mispErrors({ Event: { info: 1 } })).not.toEqual([])
        const { Event: event } = whole
        expect(event).toMatchObject({ ...head, uuid, published: true, distribution: base.includes('fleet') ? '0' : '3' }) // prettier-ignore
        for (const attribute of event.Attribute)
          expect(attribute).toMatchObject({ type: 'ip-src', category: 'Network activity', to_ids: true }) // prettier-ignore
        found.push(...event.Attribute.map(({ value }) => value))
      }
      expect(found.toSorted()).toEqual(addresses.toSorted())
      const csv = await (await get(`${base}/hashes.csv`, headers)).text()
      const md5 = (text: string) => createHash('md5').update(text).digest('hex')
      const hashes = csv.trim().split('\n').map((line) => line.split(',')[0] ?? '') // prettier-ignore
      expect(new Set(hashes)).toEqual(new Set(addresses.map(md5)))
      expect(await isConditional(`${base}/manifest.json`, headers)).toBe(true)
    }
    expect((await get('/api/v1/abuse/fleet/misp/manifest.json')).status).toBe(401)
  })
})

describe('the export of the fleet list', () => {
  it('is for firewalls with HTTP Basic authentication, and conditional', async () => {
    const path = '/api/v1/abuse/fleet/export'
    expect((await get(path)).status).toBe(401)
    expect(await (await get(path, basic())).text()).toBe('9.5.2.1\n')
    expect(await isConditional(path, basic())).toBe(true)
    expect(await (await get(`${path}?format=mikrotik`, basic())).text()).toMatch(
      /^:do \{add list=portreeve_fleet address=9\.5\.2\.1 timeout=(?:01:00:00|00:59:\d\d)\} on-error=\{\}$/m,
    )
    expect(await (await get(`${path}?format=cloudflare`, { 'x-api-key': key })).json()).toEqual([
      { ip: '9.5.2.1', comment: 'fleet' },
    ])
  })
})
