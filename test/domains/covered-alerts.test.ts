import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../alerts/module.ts'
import type { DomainDeps } from '../../src/domains/domain-context.ts'
import { checkDueDomains } from '../../src/domains/watch/daily-check.ts'
import { findWatched, saveWatched } from '../../src/domains/watch/watched-domains.sql.ts'
import { createLog } from '../../src/log.ts'
import { createResolver } from '../../src/net/dns.ts'
import { createDomainLists } from '../../src/protocols/dnsbl/domain-lists.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startMonitoring, type Host, type MonitoringTest } from '../monitoring/module.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { startLists } from '../servers/blacklists.ts'
import { domainZones, registeredUntil } from './check-with.ts'
import { inLiveWorkspaces } from '../jobs/context.ts'

const IP = '8.8.4.4'
const SPAMCOP = 'bl.spamcop.net'
const DAY_MS = 86_400_000

let dns: DnsServer
let lists: Rbldnsd
let database: FreshDatabase
let portreeve: MonitoringTest
let host: Host
beforeAll(async () => {
  lists = await startLists(domainZones(), { ttl: 1, negativeTtl: 1 })
  dns = await startDns({
    records: {
      'example.com NS': ['ns1.example.com'],
      'example.com SOA': ['ns1.example.com hostmaster.example.com 1 2 3 4 5'],
      'example.com MX': ['0 .'],
      'mail.example.com A': [IP],
      'example.com TXT': [`v=spf1 ip4:${IP} -all`],
      '_dmarc.example.com TXT': ['v=DMARC1; p=reject'],
    },
  })
  database = await freshDatabase()
  portreeve = await startMonitoring(database.url, { lists, dns })
  const { id: workspaceId } = portreeve.owner()
  await saveWatched(database.db, { workspaceId, domain: 'example.com', hosts: [] })
  host = await portreeve.add('mail.example.com')
  await portreeve.seen(host, ({ status }) => status === 'clean')
  await checkTwice()
})
afterAll(async () => {
  await portreeve.stop()
  await database.drop()
  await Promise.all([lists.stop(), dns.close()])
})

function depsOf(): DomainDeps {
  const { blocklists } = portreeve
  return {
    resolver: createResolver({ servers: [dns] }),
    blocklists,
    domainLists: createDomainLists(blocklists),
    registrations: registeredUntil(new Date(Date.now() + 300 * DAY_MS)),
    allowPrivate: true,
    log: createLog('silent'),
    ports: { smtp: 1, submission: 1, imaps: 1, https: 1 },
  }
}

/** Checks the domain now, and again as if a quarter of an hour had passed. */
async function checkTwice(): Promise<void> {
  const { db } = database
  for (let count = 0; count < 2; count++) {
    const row = await findWatched(db, portreeve.owner().id, 'example.com')
    const earlier = (_: string, at: string) =>
      `"at":"${new Date(Date.parse(at) - 900_000).toISOString()}"`
    const states = JSON.stringify(row?.states).replace(/"at":"([^"]+)"/g, earlier)
    await db
      .updateTable('watchedDomain')
      .set({ states, checkDueAt: new Date(0) })
      .execute()
    const { signal, ...live } = inLiveWorkspaces(AbortSignal.timeout(60_000))
    await checkDueDomains({ db, depsOf, log: createLog('silent'), ...live }, signal)
  }
}

type Alert = { kind: string; title: string; text: string }
async function alertsSince(count: number): Promise<Alert[]> {
  const path = 'alerts?limit=100'
  const { json } = await portreeve.callAs<{ alerts: Alert[] }>(portreeve.owner().token, 'GET', path)
  return json.data.alerts.toReversed().slice(count)
}
const count = async () => (await alertsSince(0)).length
const kindsOf = (alerts: Alert[]) => alerts.map(({ kind }) => kind)

const list = (zone: string, ips: string[]) =>
  lists.setZones({
    [zone]: { listed: Object.fromEntries(ips.map((ip) => [ip, '127.0.0.2 spam'])) },
  })

describe('a listing of a sender that is also a monitored host', () => {
  it('raises the alert of the host alone', async () => {
    const before = await count()
    await list(SPAMCOP, [IP])
    await portreeve.seen(host, ({ status }) => status === 'listed')
    await checkTwice()
    expect(kindsOf(await alertsSince(before))).toEqual(['blacklist.listed'])
    const row = await findWatched(database.db, portreeve.owner().id, 'example.com')
    expect(row?.states.blocklists).toMatchObject({ state: 'bad', isCovered: true })
  })

  it('is named in the alert about other lines that got worse by the same check', async () => {
    await list(SPAMCOP, [])
    await portreeve.seen(host, ({ status }) => status === 'clean')
    await checkTwice()
    const before = await count()
    await list(SPAMCOP, [IP])
    await portreeve.seen(host, ({ status }) => status === 'listed')
    dns.records['example.com TXT'] = [`v=spf1 ip4:${IP} +all`]
    await checkTwice()
    const [, worse] = await alertsSince(before)
    expect(worse?.title).toBe('example.com got worse: Sending servers, SPF')
    expect(worse?.text).toContain(
      'Blocklists: Good → Problem. Already alerted: mail.example.com (8.8.4.4) is listed on SpamCop SCBL.',
    )
  })

  it('does not keep the incident of the other lines open', async () => {
    const before = await count()
    dns.records['example.com TXT'] = [`v=spf1 ip4:${IP} -all`]
    await checkTwice()
    expect(kindsOf(await alertsSince(before))).toEqual(['domain.recovered'])
  })

  it('raises the alert of the domain once no host has one, and resolves it', async () => {
    const before = await count()
    await portreeve.call('DELETE', `hosts/${host.id}`)
    await checkTwice()
    await checkTwice()
    expect(await alertsSince(before)).toMatchObject([
      { kind: 'domain.worse', title: 'example.com got worse: Blocklists' },
    ])
    await list(SPAMCOP, [])
    await until(
      async () => {
        await checkTwice()
        return kindsOf(await alertsSince(before))
      },
      (kinds) => kinds.length > 1,
    )
    expect(kindsOf(await alertsSince(before))).toEqual(['domain.worse', 'domain.recovered'])
  })

  it('raises the alert of the domain for an address that no host monitors', async () => {
    host = await portreeve.add('mail.example.com')
    await portreeve.seen(host, ({ status }) => status === 'clean')
    const before = await count()
    await list(SPAMCOP, [IP, '8.8.8.8'])
    await portreeve.seen(host, ({ status }) => status === 'listed')
    dns.records['example.com TXT'] = [`v=spf1 ip4:${IP} ip4:8.8.8.8 -all`]
    await checkTwice()
    expect(kindsOf(await alertsSince(before))).toEqual(['blacklist.listed', 'domain.worse'])
  })
})
