import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { aggregate, daysAgo } from '../dmarc/reports.ts'
import { sharedService, type Person, type TestService } from '../service.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

let portreeve: TestService
let database: Database
let alice: Person
let bob: Person
beforeAll(async () => {
  portreeve = await sharedService()
  database = openDatabase(portreeve.databaseUrl)
  alice = await portreeve.addPerson('Alice')
  bob = await portreeve.addPerson('Bob')
})
afterAll(() => database.close())

async function post(path: string, token: string, body: object) {
  const init = { method: 'POST', token, headers: JSON_TYPE, body: JSON.stringify(body) }
  const response = await portreeve.request(path, init)
  return { status: response.status, body: (await response.json()) as { data: { id: string } } }
}

async function get(ip: string, token: string) {
  const response = await portreeve.request(`/api/v1/addresses/${encodeURIComponent(ip)}`, { token })
  const body = (await response.json()) as { data: Record<string, unknown>; error?: string }
  return { status: response.status, ...body }
}

/** A host that has these addresses, the first of which is on a list. */
async function monitor(workspaceId: string, host: string, ips: string[]) {
  const { db } = database
  const { id } = await db
    .insertInto('monitoredHost')
    .values({ workspaceId, host, status: 'listed', listedCount: 1 })
    .returning('id')
    .executeTakeFirstOrThrow()
  const lastSeenAt = new Date()
  await db
    .insertInto('monitoredAddress')
    .values(ips.map((ip) => ({ hostId: id, ip, seen: [], lastSeenAt })))
    .execute()
  await db
    .insertInto('monitoredFact')
    .values({
      hostId: id,
      kind: 'blacklist',
      subject: `${ips[0]} bl.spamcop.net`,
      state: 'listed',
      since: lastSeenAt,
      detail: JSON.stringify({ codes: ['127.0.0.2'], meanings: [], reason: 'Spam' }),
    })
    .execute()
  return id
}

describe('an address', () => {
  it('has what each module of the workspace knows, and the next steps', async () => {
    const ip = '45.83.12.7'
    const { body } = await post('/api/v1/dmarc/domains', alice.token, { domain: 'harbour.test' })
    const rows = [
      { ip, count: 7 },
      { ip: '45.83.12.8', count: 1 },
    ]
    await portreeve.request('/api/v1/dmarc/reports', {
      method: 'POST',
      token: alice.token,
      headers: { 'content-type': 'application/octet-stream' },
      body: aggregate({ domain: 'harbour.test', begin: daysAgo(2), rows }),
    })
    const hostId = await monitor(alice.id, 'mail.harbour.test', [ip, '45.83.12.9'])
    expect(
      (await post('/api/v1/abuse/fleet/bans', alice.token, { ip, reason: 'Test' })).status,
    ).toBe(201)
    const network = { network: '45.83.12.0/24', label: 'Ours' }
    const watched = { cidr: network.network, label: network.label }
    expect((await post('/api/v1/abuse/watched-networks', alice.token, watched)).status).toBe(201)

    const { status, data } = await get(`::ffff:${ip}`, alice.token)
    expect(status).toBe(200)
    expect(data).toMatchObject({
      ip,
      network: ip,
      isYours: true,
      sends: [
        { domainId: body.data.id, domain: 'harbour.test', source: ip, messages: 7, passed: 7 },
      ],
      hosts: [{ id: hostId, host: 'mail.harbour.test', addresses: [ip] }],
      listings: [{ ip, name: 'SpamCop SCBL', state: 'listed', reason: 'Spam' }],
      delistings: [],
      reports: { listingState: 'none' },
      fleet: { ban: { reason: 'Test', bans: 1 }, reports: [], allowed: null, server: null },
      watchedNetworks: [network],
      next: [
        { step: 'delist', id: null },
        { step: 'unban', id: null },
      ],
    })
    expect((await get(ip, bob.token)).data).toMatchObject({
      isYours: false,
      sends: [],
      hosts: [],
      listings: [],
      fleet: { ban: null },
      watchedNetworks: [],
      next: [],
    })
  })

  it('stands for its /64 as IPv6', async () => {
    await monitor(alice.id, 'six.harbour.test', ['2a0a:e5c0::25'])
    const { data } = await get('2a0a:e5c0::1', alice.token)
    expect(data).toMatchObject({
      ip: '2a0a:e5c0::1',
      network: '2a0a:e5c0::/64',
      hosts: [{ host: 'six.harbour.test' }],
      listings: [{ ip: '2a0a:e5c0::25' }],
    })
  })

  it('has no attack reports if it is not on the Internet, and must be an address', async () => {
    expect((await get('10.0.0.1', alice.token)).data).toMatchObject({ reports: null, hosts: [] })
    expect(await get('example.com', alice.token)).toMatchObject({
      status: 400,
      error: '“example.com” is not an IP address.',
    })
    expect((await portreeve.request('/api/v1/addresses/192.0.2.1')).status).toBe(401)
  })

  it('leaves out what an API token may not read', async () => {
    const scopes = ['workspace:read' as const, 'dmarc:read' as const]
    const token = await portreeve.addToken(alice.id, alice.id, { scopes })
    expect((await get('45.83.12.7', token)).data).toMatchObject({
      sends: [{ domain: 'harbour.test' }],
      hosts: null,
      listings: null,
      delistings: null,
      reports: null,
      fleet: null,
      watchedNetworks: null,
    })
  })
})
