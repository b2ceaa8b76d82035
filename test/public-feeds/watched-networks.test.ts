import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openDatabase } from '../../src/store/database.ts'
import { itAlone } from '../scaled/alone.ts'
import { startFeedProvider, type FeedProvider } from '../servers/feed-provider.ts'
import { addAdministrator } from '../accounts/sessions.ts'
import { startTestService, type Person, type TestService } from '../service.ts'

const alone = itAlone('needs other origins of providers')

let provider: FeedProvider
let portreeve: TestService
let database: ReturnType<typeof openDatabase>
let admin: Person
let alice: Person
let charlie: Person
let networkId: string

beforeAll(async () => {
  provider = await startFeedProvider()
  provider.files.set('/torbulkexitlist', '45.9.0.1\n')
  portreeve = await startTestService({}, undefined, { providerOrigins: provider.origins })
  database = openDatabase(portreeve.databaseUrl)
  admin = await addAdministrator(portreeve, 'Ada')
  alice = await portreeve.addPerson('Alice')
  charlie = await portreeve.addPerson('Charlie')
})
afterAll(async () => {
  await portreeve?.stop()
  await database?.close()
  await provider?.stop()
})

const ask = (as: Person, method: string, path: string, body?: object) =>
  portreeve.request(`/api/v1/abuse/${path}`, {
    method,
    token: as.token,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })

const BASE = 'watched-networks'
const watch = (cidr: string) => ask(alice, 'POST', BASE, { cidr, label: 'The servers' })

type Finding = { list: string; entry: string; resolvedAt: string | null; removalUrl: string | null }

async function findings(): Promise<Finding[]> {
  const answer = await ask(alice, 'GET', `${BASE}/${networkId}`)
  return ((await answer.json()) as { data: { findings: Finding[] } }).data.findings
}

/** Makes all networks due, and checks them: adding another one starts the check. */
let added = 0
async function checkAgain(): Promise<void> {
  await database.pool.query("update watched_network set checked_at = now() - interval '1 hour'")
  await watch(`45.8.0.${(added += 1)}`)
}

type Alert = { title: string; nextStep: string; path?: string; url?: string; kind: string }

async function alerts(as = alice): Promise<Alert[]> {
  const answer = await portreeve.request('/api/v1/alerts?limit=100', { token: as.token })
  return ((await answer.json()) as { data: { alerts: Alert[] } }).data.alerts
}

/** Lists an address as if it had been reported; only its state matters here. */
const list = (address: string, state = 'listed') =>
  database.pool.query(
    `insert into abuse_address (address, state, score, confidence, services, networks, evidence, total_reports, revision, first_reported_at, last_reported_at)
     values ($1, $2, 80, 'medium', '{ssh}', 2, '[]', 2, 1, now(), now())
     on conflict (address) do update set state = excluded.state`,
    [address, state],
  )

describe('watched networks', () => {
  it('must be public, and not too wide', async () => {
    for (const cidr of ['10.0.0.0/16', '45.0.0.0/8', '2a00::/20', 'nonsense'])
      expect([cidr, (await watch(cidr)).status]).toEqual([cidr, 400])
    const answer = await watch('45.9.0.0/24')
    expect(answer.status).toBe(201)
    networkId = ((await answer.json()) as { data: { id: string } }).data.id
    expect((await watch('45.9.0.0/24')).status).toBe(409)
  })

  it('are seen by their workspace alone', async () => {
    expect(await (await ask(charlie, 'GET', BASE)).json()).toEqual({ success: true, data: [] })
    for (const method of ['GET', 'DELETE'])
      expect((await ask(charlie, method, `${BASE}/${networkId}`)).status).toBe(404)
  })

  alone(
    'alert when an address is on the attack list or in a feed, and when it is gone',
    async () => {
      await list('45.9.0.7')
      await list('45.10.0.7')
      await ask(admin, 'PUT', 'feeds/tor-exits', { enabled: true })
      await vi.waitFor(async () => {
        const answer = await portreeve.request('/api/v1/abuse/check?ip=45.9.0.1')
        expect(await answer.text()).toContain('tor-exits')
      }, 15_000)
      await checkAgain()
      await vi.waitFor(async () => expect(await findings()).toHaveLength(2), 15_000)
      expect(await findings()).toMatchObject([
        { list: 'shared', entry: '45.9.0.7', resolvedAt: null },
        { list: 'tor-exits', entry: '45.9.0.1', resolvedAt: null, removalUrl: null },
      ])
      const raised = await alerts()
      expect(raised.map(({ title }) => title).toSorted()).toEqual([
        '45.9.0.0/24: 45.9.0.1 is on the public feed Tor exit nodes',
        '45.9.0.0/24: 45.9.0.7 is on the attack list',
      ])
      expect(JSON.stringify(raised)).toContain(`/attacks/networks/${networkId}`)
      expect(await alerts(charlie)).toEqual([])

      await list('45.9.0.7', 'delisted')
      await checkAgain()
      await vi.waitFor(async () => expect((await findings()).filter(({ resolvedAt }) => resolvedAt)).toMatchObject([{ list: 'shared' }]), 15_000) // prettier-ignore
      expect((await alerts()).map(({ title }) => title)).toContain(
        'Resolved: 45.9.0.0/24 is no longer on the attack list',
      )
    },
  )

  alone(
    'keep findings of a feed that is too old to use, and end those of a disabled one',
    async () => {
      await database.pool.query("update public_feed set changed_at = now() - interval '60 hours', due_at = now()") // prettier-ignore
      await ask(admin, 'PUT', 'feeds/tor-exits', { enabled: true })
      await vi.waitFor(async () => {
        const answer = await portreeve.request('/api/v1/abuse/check?ip=45.9.0.1')
        expect(await answer.text()).not.toContain('tor-exits')
      }, 15_000)
      await checkAgain()
      const isChecked = async () => {
        const { rows } = await database.pool.query("select from watched_network where checked_at is null or checked_at < now() - interval '30 min'") // prettier-ignore
        expect(rows).toEqual([])
      }
      await vi.waitFor(isChecked, 15_000)
      expect((await findings()).filter(({ resolvedAt }) => !resolvedAt)).toMatchObject([{ list: 'tor-exits' }]) // prettier-ignore
      await ask(admin, 'PUT', 'feeds/tor-exits', { enabled: false })
      await checkAgain()
      await vi.waitFor(async () => expect((await findings()).filter(({ resolvedAt }) => !resolvedAt)).toEqual([]), 15_000) // prettier-ignore
    },
  )

  it('are deleted with their history', async () => {
    expect((await ask(alice, 'DELETE', `${BASE}/${networkId}`)).status).toBe(200)
    expect((await ask(alice, 'GET', `${BASE}/${networkId}`)).status).toBe(404)
  })
})
