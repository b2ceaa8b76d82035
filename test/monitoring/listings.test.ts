import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { enabled, IP, startLists } from '../servers/blacklists.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import type { Rbldnsd, Zone } from '../servers/rbldnsd.ts'
import { startReceiver, status, type Receiver } from '../servers/receiver.ts'
import { NEVER, startMonitoring, type MonitoringTest } from './module.ts'

const SPAMCOP = 'bl.spamcop.net'
const BARRACUDA = 'b.barracudacentral.org'
const MINOR = enabled.find(({ category, alert }) => category === 'minor' && !alert)?.zone ?? ''

let lists: Rbldnsd
let dns: DnsServer
let sink: Sink
let receiver: Receiver
let database: FreshDatabase
let portreeve: MonitoringTest

beforeAll(async () => {
  ;[sink, dns] = await Promise.all([startSink(), startDns()])
})
afterAll(async () => {
  await Promise.all([sink.stop(), dns.close()])
})
beforeEach(async () => {
  ;[lists, database, receiver] = await Promise.all([
    startLists({}, { ttl: 1, negativeTtl: 1 }),
    freshDatabase(),
    startReceiver(status(204)),
  ])
  sink.mails.length = 0
  portreeve = await startMonitoring(database.url, { lists, dns, smtpUrl: sink.url })
  await portreeve.callAs(portreeve.owner().token, 'POST', 'alerts/channels', {
    type: 'webhook',
    url: `${receiver.origin}/hook`,
  })
})
afterEach(async () => {
  await portreeve.stop()
  await Promise.all([lists.stop(), database.drop(), receiver.close()])
})

const listed = (text: string): Zone => ({ listed: { [IP]: text } })
const mailed = () => sink.mails.map(({ subject }) => subject)
const posted = () =>
  receiver.received.map(({ body }) => (JSON.parse(body) as { data: { title: string } }).data.title)

async function incidents() {
  const { json } = await portreeve.callAs<{
    incidents: { key: string; state: string; kind: string; alerts: number }[]
  }>(portreeve.owner().token, 'GET', 'alerts/incidents')
  return json.data.incidents
}

describe('a monitored address', () => {
  it('raises one alert when it is listed, with reason and next step, and one when it is removed', async () => {
    const host = await portreeve.add(IP, { label: 'outgoing mail' })
    expect(host).toMatchObject({
      status: 'pending',
      listedCount: 0,
      totalChecked: 0,
      lastCheckAt: null,
    })
    const clean = await portreeve.seen(host, ({ status: now }) => now === 'clean')
    expect(clean).toMatchObject({
      totalChecked: enabled.length,
      listedCount: 0,
      unknownCount: 0,
      detail: null,
    })
    await portreeve.checked(host, 2)
    expect(mailed()).toEqual([])

    await lists.setZones({
      [SPAMCOP]: listed('127.0.0.2 Blocked - see https://www.spamcop.net/bl.shtml?8.8.4.4'),
    })
    const bad = await portreeve.seen(host, ({ status: now }) => now === 'listed')
    expect(bad.listings).toMatchObject([
      {
        ip: IP,
        dnsbl: SPAMCOP,
        state: 'listed',
        codes: ['127.0.0.2'],
        delistUrl: expect.stringMatching('spamcop'),
      },
    ])
    await portreeve.checked(host, 3)
    const title = `${IP} (outgoing mail) is listed on ${nameOf(SPAMCOP)}`
    expect(mailed()).toEqual([title])
    expect(posted()).toEqual([title])
    const { text = '' } = sink.mails[0] ?? {}
    expect(text).toContain(
      'Reason given by the list: “Blocked - see https://www.spamcop.net/bl.shtml?8.8.4.4”',
    )
    expect(text).toContain(`start delisting ${IP}`)
    expect(text).toContain(`/monitoring/${host.id}?workspace=`)

    await lists.setZones({ [SPAMCOP]: {} })
    await portreeve.seen(host, ({ status: now }) => now === 'clean')
    await portreeve.checked(host, 3)
    const cleared = `Resolved: ${IP} (outgoing mail) was removed from ${nameOf(SPAMCOP)}`
    expect(mailed()).toEqual([title, cleared])
    expect(posted()).toEqual([title, cleared])
    expect(await portreeve.history(host, 'kind=blacklist')).toMatchObject([
      {
        name: nameOf(SPAMCOP),
        dnsbl: SPAMCOP,
        from: 'listed',
        to: 'clean',
        codes: ['127.0.0.2'],
        ip: IP,
        baseline: false,
      },
      {
        name: nameOf(SPAMCOP),
        dnsbl: SPAMCOP,
        from: 'clean',
        to: 'listed',
        codes: ['127.0.0.2'],
        reason: expect.stringMatching('Blocked'),
        ip: IP,
      },
    ])
  })

  it('raises one alert for all listings of the first check; the last removal resolves it', async () => {
    const zones = {
      [BARRACUDA]: listed('127.0.0.2 since long'),
      [SPAMCOP]: listed('127.0.0.2 old'),
    }
    await lists.setZones(zones)
    const host = await portreeve.add(IP, { label: 'relay' })
    await portreeve.seen(host, ({ listedCount }) => listedCount === 2)
    await portreeve.checked(host, 3)
    const title = `${IP} (relay) is already on 2 blocklists`
    expect(mailed()).toEqual([title])
    const { text = '' } = sink.mails[0] ?? {}
    expect(text).toContain(`- ${nameOf(SPAMCOP)} (${SPAMCOP}): “old”`)
    expect(text).toContain(`- ${nameOf(BARRACUDA)} (${BARRACUDA}): “since long”`)
    expect(text).toContain(`start delisting ${IP}`)
    expect((await portreeve.history(host)).map(({ baseline }) => baseline)).toEqual([true, true])
    expect(await incidents()).toMatchObject([
      { key: `blacklist/${host.id}/initial`, state: 'open', kind: 'blacklist.already-listed' },
    ])

    await lists.setZones({ [BARRACUDA]: {}, [SPAMCOP]: zones[SPAMCOP] ?? {} })
    await portreeve.seen(host, ({ listedCount }) => listedCount === 1)
    await portreeve.checked(host)
    expect(await incidents()).toMatchObject([{ state: 'open', alerts: 1 }])
    await lists.setZones({ [BARRACUDA]: {}, [SPAMCOP]: {} })
    await portreeve.seen(host, ({ status: now }) => now === 'clean')
    await portreeve.checked(host)
    expect(mailed()).toEqual([
      title,
      ...[BARRACUDA, SPAMCOP].map(
        (zone) => `Resolved: ${IP} (relay) was removed from ${nameOf(zone)}`,
      ),
    ])
    expect(await incidents()).toMatchObject([{ state: 'resolved', alerts: 2 }])
  })

  it('raises no second alert for a host with the listed address of another one', async () => {
    dns.records['mail.again.test A'] = [IP]
    await lists.setZones({ [SPAMCOP]: listed('127.0.0.2 twice') })
    const one = await portreeve.add(IP)
    await portreeve.seen(one, ({ status: now }) => now === 'listed')
    const two = await portreeve.add('mail.again.test', { tlsPorts: [] })
    await portreeve.seen(two, ({ status: now }) => now === 'listed')
    expect(await portreeve.alertTitles()).toEqual([`${IP} is already on 1 blocklist`])
    await lists.setZones({ [SPAMCOP]: {} })
    for (const host of [one, two]) await portreeve.seen(host, ({ status: now }) => now === 'clean')
    expect(await incidents()).toMatchObject([{ state: 'resolved' }])
    expect(await portreeve.alertTitles()).toHaveLength(2)
  })

  it('raises no alert for a listing that is gone at the second check', async () => {
    await portreeve.stop()
    portreeve = await startMonitoring(database.url, {
      lists,
      dns,
      smtpUrl: sink.url,
      intervals: { ...NEVER, confirmMs: 400 },
      name: 'Bob',
    })
    const host = await portreeve.add(IP)
    await portreeve.check(host)
    await lists.setZones({ [SPAMCOP]: listed('127.0.0.2 by mistake') })
    const suspected = await portreeve.check(host)
    expect(suspected).toMatchObject({
      status: 'clean',
      listedCount: 0,
      listings: [{ dnsbl: SPAMCOP, state: 'suspected' }],
    })
    await lists.setZones({ [SPAMCOP]: {} })
    expect((await portreeve.check(host)).listings).toEqual([])
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect((await portreeve.check(host)).listings).toEqual([])
    expect(await portreeve.alertTitles()).toEqual([])
    expect(await portreeve.history(host)).toEqual([])
  })

  it('raises no alert for lists that are not used to reject mail, unless the account sets mode alert', async () => {
    const host = await portreeve.add(IP)
    await portreeve.seen(host, ({ status: now }) => now === 'clean')
    await lists.setZones({ [MINOR]: listed('127.0.0.2 minor') })
    expect(await portreeve.seen(host, ({ listedCount }) => listedCount === 1)).toMatchObject({
      status: 'listed',
    })
    await portreeve.checked(host)
    expect(await portreeve.alertTitles()).toEqual([])
    await lists.setZones({ [MINOR]: {} })
    await portreeve.seen(host, ({ listedCount }) => listedCount === 0)
    expect((await portreeve.call('PUT', `lists/${MINOR}`, { mode: 'alert' })).status).toBe(200)
    await lists.setZones({ [MINOR]: listed('127.0.0.2 minor') })
    await portreeve.seen(host, ({ listedCount }) => listedCount === 1)
    expect(await portreeve.alertTitles()).toEqual([`${IP} is listed on ${nameOf(MINOR)}`])
  })

  it('does not query a muted list, and raises no alert at the first check after unmuting', async () => {
    const host = await portreeve.add(IP, { lists: { [SPAMCOP]: 'mute' } })
    await lists.setZones({ [SPAMCOP]: listed('127.0.0.2 muted') })
    const seen = await portreeve.seen(host, ({ status: now }) => now === 'clean')
    expect(seen.totalChecked).toBe(enabled.length - 1)
    expect(lists.queryLog().some((line) => line.startsWith(`4.4.8.8.${SPAMCOP}`))).toBe(false)
    await portreeve.call('PATCH', `hosts/${host.id}`, { lists: {} })
    await portreeve.seen(host, ({ status: now }) => now === 'listed')
    await portreeve.checked(host)
    expect(await portreeve.alertTitles()).toEqual([])
  })

  it('of two hosts raises one alert when listed and one when removed', async () => {
    dns.records['mail.twice.test A'] = [IP]
    const [one, two] = [
      await portreeve.add(IP),
      await portreeve.add('mail.twice.test', { tlsPorts: [] }),
    ]
    for (const host of [one, two]) await portreeve.seen(host, ({ status: now }) => now === 'clean')
    await lists.setZones({ [SPAMCOP]: listed('127.0.0.2 twice') })
    for (const host of [one, two]) await portreeve.seen(host, ({ status: now }) => now === 'listed')
    await lists.setZones({ [SPAMCOP]: {} })
    for (const host of [one, two]) await portreeve.seen(host, ({ status: now }) => now === 'clean')
    await portreeve.checked(one)
    expect(await portreeve.alertTitles()).toHaveLength(2)
  })
})

function nameOf(zone: string): string {
  return enabled.find((list) => list.zone === zone)?.name ?? ''
}

describe('blocklists without a usable answer', () => {
  it.each(['silent', 'refused', 'refusing', 'expired', 'parked'] as const)(
    'neither open nor close a listing while they are %s',
    async (behaviour) => {
      await lists.setZones({ [SPAMCOP]: listed('127.0.0.2 real') })
      const host = await portreeve.add(IP)
      await portreeve.seen(host, ({ status: now }) => now === 'listed')
      await lists.setZones({ [SPAMCOP]: { behaviour }, [BARRACUDA]: { behaviour } })
      const unsure = await portreeve.seen(host, ({ unknownCount }) => unknownCount >= 2)
      expect(unsure).toMatchObject({ status: 'listed', listedCount: 1, detail: expect.any(String) })
      expect(unsure.addresses[0]?.unknownLists.toSorted()).toEqual([BARRACUDA, SPAMCOP].toSorted())
      await portreeve.checked(host, 3)
      expect(await portreeve.read(host.id)).toMatchObject({ status: 'listed', listedCount: 1 })
      expect(await portreeve.alertTitles()).toEqual([`${IP} is already on 1 blocklist`])
      expect(await portreeve.history(host, 'kind=blacklist')).toHaveLength(1)
    },
  )

  it('do not open a listing by listing everything', async () => {
    const host = await portreeve.add(IP)
    await portreeve.seen(host, ({ status: now }) => now === 'clean')
    await lists.setZones({ [SPAMCOP]: { behaviour: 'wildcard' } })
    const unsure = await portreeve.seen(host, ({ unknownCount }) => unknownCount === 1)
    expect(unsure).toMatchObject({
      status: 'unknown',
      listedCount: 0,
      listings: [{ state: 'suspected' }],
    })
    await portreeve.checked(host, 3)
    expect(await portreeve.alertTitles()).toEqual([])
    await lists.setZones({ [SPAMCOP]: {} })
    expect(await portreeve.history(host)).toEqual([])
  })

  it('make a host unknown, not clean, when they are important', async () => {
    await lists.setZones({ [BARRACUDA]: { behaviour: 'refusing' } })
    const host = await portreeve.add(IP)
    const unsure = await portreeve.seen(host, ({ lastCheckAt }) => lastCheckAt !== null)
    expect(unsure).toMatchObject({
      status: 'unknown',
      unknownCount: 1,
      detail: expect.stringMatching(nameOf(BARRACUDA)),
    })
  })

  it('raise no alert when all of them fail at once, nor when they recover', async () => {
    const host = await portreeve.add(IP)
    await portreeve.seen(host, ({ status: now }) => now === 'clean')
    const all = (zone: Zone) => Object.fromEntries(enabled.map((list) => [list.zone, zone]))
    await lists.setZones(all({ behaviour: 'refused' }))
    const down = await portreeve.seen(
      host,
      ({ status: now, unknownCount }) => now === 'unknown' && unknownCount > enabled.length / 2,
    )
    expect(down.detail).toMatch('The resolver')
    await portreeve.checked(host, 2)
    await lists.setZones(all({}))
    expect(await portreeve.alertTitles()).toEqual([])
    expect(await portreeve.history(host)).toEqual([])
  })

  it('raise no alert when a resolver suddenly answers “listed” to everything', async () => {
    const host = await portreeve.add(IP)
    await portreeve.seen(host, ({ status: now }) => now === 'clean')
    await lists.setZones(
      Object.fromEntries(enabled.map((list) => [list.zone, { behaviour: 'wildcard' as const }])),
    )
    await portreeve.checked(host, 3)
    expect(await portreeve.read(host.id)).toMatchObject({ listedCount: 0 })
    expect(await portreeve.alertTitles()).toEqual([])
  })
})

describe('a monitored name', () => {
  it('is looked up at every check, and each of its addresses is checked', async () => {
    dns.records['mail.moving.test A'] = [IP, '8.8.8.8']
    const host = await portreeve.add('Mail.Moving.Test.', { tlsPorts: [], dnsRecords: false })
    expect(host.host).toBe('mail.moving.test')
    const first = await portreeve.seen(host, ({ status: now }) => now === 'clean')
    expect(first.addresses.map(({ ip }) => ip)).toEqual(['8.8.4.4', '8.8.8.8'])
    expect(first.totalChecked).toBe(2 * enabled.length)
    await lists.setZones({ [SPAMCOP]: { listed: { '9.9.9.9': '127.0.0.2 spam' } } })
    dns.records['mail.moving.test A'] = ['9.9.9.9']
    const moved = await portreeve.seen(host, ({ status: now }) => now === 'listed')
    expect(moved.listings).toMatchObject([{ ip: '9.9.9.9', dnsbl: SPAMCOP }])
    expect(await portreeve.alertTitles()).toEqual([
      `mail.moving.test (9.9.9.9) is listed on ${nameOf(SPAMCOP)}`,
    ])
  })

  it('whose lookup fails is unknown, and its known addresses are still checked', async () => {
    dns.records['mail.lost.test A'] = [IP]
    const host = await portreeve.add('mail.lost.test', { tlsPorts: [], dnsRecords: false })
    await portreeve.seen(host, ({ status: now }) => now === 'clean')
    dns.behaviours['mail.lost.test *'] = 'SERVFAIL'
    await portreeve.seen(host, ({ detail }) => detail?.includes('The address lookup of') === true)
    await lists.setZones({ [SPAMCOP]: listed('127.0.0.2 spam') })
    await portreeve.seen(host, ({ status: now }) => now === 'listed')
  })

  it('that does not exist or is private is unknown with the reason', async () => {
    dns.records['inside.test A'] = ['10.1.2.3']
    const [nowhere, inside] = [
      await portreeve.add('nowhere.test'),
      await portreeve.add('inside.test'),
    ]
    expect(await portreeve.seen(nowhere, ({ lastCheckAt }) => lastCheckAt !== null)).toMatchObject({
      status: 'unknown',
      detail: 'nowhere.test does not exist in the DNS.',
    })
    expect(await portreeve.seen(inside, ({ lastCheckAt }) => lastCheckAt !== null)).toMatchObject({
      status: 'unknown',
      detail: expect.stringMatching('10.1.2.3'),
    })
  })
})
