import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { applyObservation, type Fact } from '../../src/monitoring/facts/observation.ts'
import { createRateLimiter } from '../../src/monitoring/checks/rate-limiter.ts'
import { claimDue } from '../../src/monitoring/checks/host-checks.sql.ts'
import { checkDueHosts } from '../../src/monitoring/checks/host-sweep.ts'
import type { Resolver } from '../../src/net/dns.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startLists } from '../servers/blacklists.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { until } from '../alerts/module.ts'
import { NEVER, startMonitoring, type Host, type MonitoringTest } from './module.ts'
import { inLiveWorkspaces } from '../jobs/context.ts'

let lists: Rbldnsd
let database: FreshDatabase
const instances: MonitoringTest[] = []

beforeAll(async () => {
  ;[lists, database] = await Promise.all([startLists(), freshDatabase()])
})
afterAll(async () => {
  await Promise.all([lists.stop(), database.drop()])
})
afterEach(async () => {
  for (const portreeve of instances.splice(0)) await portreeve.stop()
  await database.pool.query('delete from workspace; delete from account')
})

async function start(
  options: Partial<Parameters<typeof startMonitoring>[1]> = {},
): Promise<MonitoringTest> {
  const portreeve = await startMonitoring(database.url, { lists, ...options })
  instances.push(portreeve)
  return portreeve
}

const addresses = (count: number) =>
  Array.from({ length: count }, (_, index) => `8.9.${Math.floor(index / 250)}.${(index % 250) + 1}`)

describe('a sweep', () => {
  it('checks each due host once, with two instances at work', async () => {
    const first = await start({ intervals: NEVER })
    await start({ intervals: NEVER, name: 'Bob' })
    const hosts = await Promise.all(addresses(12).map((ip) => first.add(ip)))
    for (const host of hosts) await first.seen(host, ({ lastCheckAt }) => lastCheckAt !== null)
    const runs = await first.db.selectFrom('monitoredHost').select('run').execute()
    expect(runs.map(({ run }) => run)).toEqual(hosts.map(() => 1))
  })

  it('checks the hosts that a killed instance had claimed', async () => {
    const idle = await start({ works: false })
    const host = await idle.add('8.8.4.4')
    expect(await claimDue(idle.db, 10, 1)).toMatchObject([{ id: host.id }])
    expect(await claimDue(idle.db, 10, 1)).toEqual([])
    const alive = await start({ name: 'Bob' })
    const seen = await idle.seen(host, ({ status }) => status === 'clean')
    expect(seen.totalChecked).toBe(alive.blocklists.lists.length)
  })

  it('raises one alert for a change that was unconfirmed before a restart', async () => {
    const first = await start()
    const host = await first.add('8.8.4.4')
    await first.seen(host, ({ status }) => status === 'clean')
    await lists.setZones({ 'bl.spamcop.net': { listed: { '8.8.4.4': '127.0.0.2 spam' } } })
    await first.seen(host, ({ listings }) => listings.length > 0)
    await first.stop()
    instances.pop()
    const second = await start({ name: 'Bob' })
    const alerts = () => second.db.selectFrom('alert').select('title').execute()
    const read = async (): Promise<Host['status']> =>
      (await second.db.selectFrom('monitoredHost').select('status').executeTakeFirstOrThrow())
        .status
    await vi.waitFor(async () => expect(await read()).toBe('listed'))
    const runs = async () =>
      (await second.db.selectFrom('monitoredHost').select('run').executeTakeFirstOrThrow()).run
    const before = await runs()
    await expect.poll(runs).toBeGreaterThan(before + 3)
    expect(await alerts()).toHaveLength(1)
    await lists.setZones({ 'bl.spamcop.net': {} })
  })
})

describe('hosts of several accounts', () => {
  it('take turns, however many of one account have waited longer', async () => {
    const portreeve = await start({ works: false })
    // One at a time: thirty at once can wait too long for a connection on a busy machine.
    for (const ip of addresses(30)) await portreeve.add(ip)
    await portreeve.become('Bob')
    const { id } = await portreeve.add('9.9.9.9')
    const claimed = await claimDue(portreeve.db, 16, 60)
    expect(claimed).toHaveLength(16)
    expect(claimed.map((host) => host.id)).toContain(id)
  })

  it('that never answer delay only their own account', { timeout: 60_000 }, async () => {
    const portreeve = await start({ works: false })
    for (let n = 0; n < 30; n++) await portreeve.add(`silent${n}.example.com`)
    const isSilent = (name: string) => name.startsWith('silent')
    let asked = 0
    const resolver: Resolver = {
      ...portreeve.resolver,
      query(name, type, signal) {
        if (!isSilent(name)) return portreeve.resolver.query(name, type, signal)
        asked += 1
        return new Promise((_resolve, reject) =>
          signal?.addEventListener('abort', () => reject(signal.reason)),
        )
      },
    }
    const { blocklists, db, log } = portreeve
    const stop = new AbortController()
    const deps = {
      db,
      log,
      resolver,
      blocklists,
      allowPrivate: false,
      intervals: NEVER,
      waitForTurn: createRateLimiter(0),
    } as const
    const sweeping = checkDueHosts(deps, inLiveWorkspaces(stop.signal))
    await until(
      () => asked,
      (count) => count > 0,
    )
    await portreeve.become('Bob')
    const host = await portreeve.add('8.8.4.4')
    const seen = await portreeve.seen(host, ({ lastCheckAt }) => lastCheckAt !== null)
    expect(seen.totalChecked).toBeGreaterThan(0)
    const { rows } = await portreeve.pool.query(
      'select 1 from monitored_host where last_check_at is null',
    )
    expect(rows).toHaveLength(30)
    stop.abort()
    await sweeping
  })
})

describe('the rate limiter', () => {
  it('resolves one call at a time, with the spacing between', async () => {
    const waitForTurn = createRateLimiter(40)
    const started = performance.now()
    await Promise.all(Array.from({ length: 5 }, () => waitForTurn(new AbortController().signal)))
    expect(performance.now() - started).toBeGreaterThanOrEqual(155)
  })
})

describe('an observation', () => {
  const clean: Fact = {
    state: 'clean',
    detail: {},
    since: new Date(0),
    suspect: null,
    suspectAt: null,
  }
  const at = (seconds: number) => new Date(seconds * 1000)
  const listed = { state: 'listed', detail: {} }

  it('confirms a state that was observed twice, far enough apart', () => {
    const once = applyObservation(clean, listed, at(100), 60_000)
    expect(once).toMatchObject({ fact: { state: 'clean', suspect: 'listed' }, change: null })
    const soon = applyObservation(once.fact, listed, at(130), 60_000)
    expect(soon).toMatchObject({ fact: { state: 'clean', suspectAt: at(100) }, change: null })
    const later = applyObservation(soon.fact, listed, at(160), 60_000)
    expect(later).toMatchObject({
      fact: { state: 'listed', since: at(100) },
      change: { from: 'clean', to: 'listed' },
    })
  })

  it('clears an unconfirmed state, restarts with a different one, and keeps it after a failed check', () => {
    const once = applyObservation(clean, listed, at(100), 60_000).fact
    expect(applyObservation(once, { state: 'clean', detail: {} }, at(200), 60_000).fact).toEqual(
      clean,
    )
    expect(applyObservation(once, { state: 'other', detail: {} }, at(200), 60_000)).toMatchObject({
      fact: { suspectAt: at(200) },
      change: null,
    })
    expect(applyObservation(once, null, at(200), 60_000)).toEqual({ fact: once, change: null })
  })
})
