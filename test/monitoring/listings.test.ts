import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { enabled, IP, startLists } from '../servers/blacklists.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import type { Rbldnsd, Zone } from '../servers/rbldnsd.ts'
import { startReceiver, status, type Receiver } from '../servers/receiver.ts'
import { isImportant } from '../../src/monitoring/blocklists/modes.ts'
import { startMonitoring, type MonitoringTest } from './module.ts'

const SPAMCOP = 'bl.spamcop.net'
const BARRACUDA = 'b.barracudacentral.org'
const MINOR = enabled.find(({ category, alert }) => category === 'minor' && !alert)?.zone ?? ''

let lists: Rbldnsd
let dns: DnsServer
let sink: Sink
let receiver: Receiver
let database: FreshDatabase
let portreeve: MonitoringTest
let test = 0
const changedZones = new Set<string>()

beforeAll(async () => {
  ;[lists, sink, dns, receiver, database] = await Promise.all([
    startLists(),
    startSink(),
    startDns(),
    startReceiver(status(204)),
    freshDatabase(),
  ])
  portreeve = await startMonitoring(database.url, { lists, dns, smtpUrl: sink.url })
})
afterAll(async () => {
  await portreeve.stop()
  await Promise.all([lists.stop(), sink.stop(), dns.close(), receiver.close(), database.drop()])
})
beforeEach(async () => {
  test += 1
  await portreeve.become(`Alice${test}`)
  const channel = { type: 'webhook', url: `${receiver.origin}/hook${test}` }
  await portreeve.callAs(portreeve.owner().token, 'POST', 'alerts/channels', channel)
})
afterEach(async () => {
  await database.db.deleteFrom('monitoredHost').execute()
  await setZones(Object.fromEntries([...changedZones].map((zone) => [zone, {}])))
  changedZones.clear()
  portreeve.forgetHealth()
})

async function setZones(zones: Record<string, Zone>): Promise<void> {
  for (const zone of Object.keys(zones)) changedZones.add(zone)
  if (changedZones.size > 0) await lists.setZones(zones)
}

const listed = (text: string): Zone => ({ listed: { [IP]: text } })
const mails = () =>
  sink.mails.filter(({ to }) => to?.some(({ address }) => address === portreeve.owner().email))
const mailed = () => mails().map(({ subject }) => subject)
const posted = () =>
  receiver.received
    .filter(({ path }) => path === `/hook${test}`)
    .map(({ body }) => (JSON.parse(body) as { data: { title: string } }).data.title)

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

    await setZones({
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
    await expect.poll(mailed).toEqual([title])
    await expect.poll(posted).toEqual([title])
    const { text = '' } = mails()[0] ?? {}
    expect(text).toContain(
      'Reason given by the list: “Blocked - see https://www.spamcop.net/bl.shtml?8.8.4.4”',
    )
    expect(text).toContain(`start delisting ${IP}`)
    expect(text).toContain(`/monitoring/${host.id}?workspace=`)

    await setZones({ [SPAMCOP]: {} })
    await portreeve.seen(host, ({ status: now }) => now === 'clean')
    await portreeve.checked(host, 3)
    const cleared = `Resolved: ${IP} (outgoing mail) was removed from ${nameOf(SPAMCOP)}`
    await expect.poll(mailed).toEqual([title, cleared])
    await expect.poll(posted).toEqual([title, cleared])
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
    await setZones(zones)
    const host = await portreeve.add(IP, { label: 'relay' })
    await portreeve.seen(host, ({ listedCount }) => listedCount === 2)
    await portreeve.checked(host, 3)
    const title = `${IP} (relay) is already on 2 blocklists`
    await expect.poll(mailed).toEqual([title])
    const { text = '' } = mails()[0] ?? {}
    expect(text).toContain(`- ${nameOf(SPAMCOP)} (${SPAMCOP}): “old”`)
    expect(text).toContain(`- ${nameOf(BARRACUDA)} (${BARRACUDA}): “since long”`)
    expect(text).toContain(`start delisting ${IP}`)
    expect((await portreeve.history(host)).map(({ baseline }) => baseline)).toEqual([true, true])
    expect(await incidents()).toMatchObject([
      { key: `blacklist/${host.id}/initial`, state: 'open', kind: 'blacklist.already-listed' },
    ])

    await setZones({ [BARRACUDA]: {}, [SPAMCOP]: zones[SPAMCOP] ?? {} })
    await portreeve.seen(host, ({ listedCount }) => listedCount === 1)
    await portreeve.checked(host)
    expect(await incidents()).toMatchObject([{ state: 'open', alerts: 1 }])
    await setZones({ [BARRACUDA]: {}, [SPAMCOP]: {} })
    await portreeve.seen(host, ({ status: now }) => now === 'clean')
    await portreeve.checked(host)
    await expect
      .poll(mailed)
      .toEqual([
        title,
        ...[BARRACUDA, SPAMCOP].map(
          (zone) => `Resolved: ${IP} (relay) was removed from ${nameOf(zone)}`,
        ),
      ])
    expect(await incidents()).toMatchObject([{ state: 'resolved', alerts: 2 }])
  })

  it('raises no second alert for a host with the listed address of another one', async () => {
    dns.records['mail.again.test A'] = [IP]
    await setZones({ [SPAMCOP]: listed('127.0.0.2 twice') })
    const one = await portreeve.add(IP)
    await portreeve.seen(one, ({ status: now }) => now === 'listed')
    const two = await portreeve.add('mail.again.test', { tlsPorts: [] })
    await portreeve.seen(two, ({ status: now }) => now === 'listed')
    expect(await portreeve.alertTitles()).toEqual([`${IP} is already on 1 blocklist`])
    await setZones({ [SPAMCOP]: {} })
    for (const host of [one, two]) await portreeve.seen(host, ({ status: now }) => now === 'clean')
    expect(await incidents()).toMatchObject([{ state: 'resolved' }])
    expect(await portreeve.alertTitles()).toHaveLength(2)
  })

  it('raises no alert for lists that are not used to reject mail, unless the account sets mode alert', async () => {
    const host = await portreeve.add(IP)
    await portreeve.seen(host, ({ status: now }) => now === 'clean')
    await setZones({ [MINOR]: listed('127.0.0.2 minor') })
    expect(await portreeve.seen(host, ({ listedCount }) => listedCount === 1)).toMatchObject({
      status: 'listed',
    })
    await portreeve.checked(host)
    expect(await portreeve.alertTitles()).toEqual([])
    await setZones({ [MINOR]: {} })
    await portreeve.seen(host, ({ listedCount }) => listedCount === 0)
    expect((await portreeve.call('PUT', `lists/${MINOR}`, { mode: 'alert' })).status).toBe(200)
    await setZones({ [MINOR]: listed('127.0.0.2 minor') })
    await portreeve.seen(host, ({ listedCount }) => listedCount === 1)
    expect(await portreeve.alertTitles()).toEqual([`${IP} is listed on ${nameOf(MINOR)}`])
  })

  it('does not query a muted list, and raises no alert at the first check after unmuting', async () => {
    const before = lists.queryLog().length
    const host = await portreeve.add(IP, { lists: { [SPAMCOP]: 'mute' } })
    await setZones({ [SPAMCOP]: listed('127.0.0.2 muted') })
    const seen = await portreeve.seen(host, ({ status: now }) => now === 'clean')
    expect(seen.totalChecked).toBe(enabled.length - 1)
    const asked = lists.queryLog().slice(before)
    expect(asked.filter((line) => line.startsWith(`4.4.8.8.${SPAMCOP}`))).toEqual([])
    expect(asked).not.toEqual([])
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
    await setZones({ [SPAMCOP]: listed('127.0.0.2 twice') })
    for (const host of [one, two]) await portreeve.seen(host, ({ status: now }) => now === 'listed')
    await setZones({ [SPAMCOP]: {} })
    for (const host of [one, two]) await portreeve.seen(host, ({ status: now }) => now === 'clean')
    await portreeve.checked(one)
    expect(await portreeve.alertTitles()).toHaveLength(2)
  })
})

const REFUSING: Zone = { behaviour: 'refusing' }

function nameOf(zone: string): string {
  return enabled.find((list) => list.zone === zone)?.name ?? ''
}

describe('blocklists without a usable answer', () => {
  it.each(['silent', 'refused', 'refusing', 'expired', 'parked'] as const)(
    'neither open nor close a listing while they are %s',
    async (behaviour) => {
      await setZones({ [SPAMCOP]: listed('127.0.0.2 real') })
      const host = await portreeve.add(IP)
      await portreeve.seen(host, ({ status: now }) => now === 'listed')
      await setZones({ [SPAMCOP]: { behaviour }, [BARRACUDA]: { behaviour } })
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
    await setZones({ [SPAMCOP]: { behaviour: 'wildcard' } })
    const unsure = await portreeve.seen(host, ({ unknownCount }) => unknownCount === 1)
    expect(unsure).toMatchObject({
      status: 'unknown',
      listedCount: 0,
      listings: [{ state: 'suspected' }],
    })
    await portreeve.checked(host, 3)
    expect(await portreeve.alertTitles()).toEqual([])
    await setZones({ [SPAMCOP]: {} })
    expect(await portreeve.history(host)).toEqual([])
  })

  it('make a host unknown, not clean, when they are important', async () => {
    await setZones({ [BARRACUDA]: { behaviour: 'silent' } })
    const host = await portreeve.add(IP)
    const unsure = await portreeve.seen(host, ({ lastCheckAt }) => lastCheckAt !== null)
    expect(unsure).toMatchObject({
      status: 'unknown',
      unknownCount: 1,
      detail: expect.stringMatching(nameOf(BARRACUDA)),
    })
  })

  it('say nothing about a host when they refuse the resolver, unless all important ones do', async () => {
    await setZones({ [BARRACUDA]: { behaviour: 'refusing' } })
    const host = await portreeve.add(IP)
    const known = await portreeve.seen(host, ({ lastCheckAt }) => lastCheckAt !== null)
    expect(known).toMatchObject({
      status: 'clean',
      unknownCount: 1,
      detail: expect.stringMatching(`${nameOf(BARRACUDA)} refused this resolver`),
    })
    const important = enabled.filter(isImportant).map(({ zone }) => [zone, REFUSING])
    await setZones(Object.fromEntries(important))
    portreeve.forgetHealth()
    await portreeve.seen(host, ({ status: now }) => now === 'unknown')
    await setZones({ ...Object.fromEntries(important), [SPAMCOP]: listed('127.0.0.2 real') })
    portreeve.forgetHealth()
    await portreeve.seen(host, ({ status: now }) => now === 'listed')
  })

  it('raise no alert when all of them fail at once, nor when they recover', async () => {
    const host = await portreeve.add(IP)
    await portreeve.seen(host, ({ status: now }) => now === 'clean')
    const all = (zone: Zone) => Object.fromEntries(enabled.map((list) => [list.zone, zone]))
    await setZones(all({ behaviour: 'refused' }))
    const down = await portreeve.seen(
      host,
      ({ status: now, unknownCount }) => now === 'unknown' && unknownCount > enabled.length / 2,
    )
    expect(down.detail).toMatch('The resolver')
    await portreeve.checked(host, 2)
    await setZones(all({}))
    portreeve.forgetHealth()
    await portreeve.seen(host, ({ status: now }) => now === 'clean')
    await portreeve.checked(host)
    expect(await portreeve.alertTitles()).toEqual([])
    expect(await portreeve.history(host)).toEqual([])
  })

  it('raise no alert when a resolver suddenly answers “listed” to everything', async () => {
    const host = await portreeve.add(IP)
    await portreeve.seen(host, ({ status: now }) => now === 'clean')
    await setZones(
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
    await setZones({ [SPAMCOP]: { listed: { '9.9.9.9': '127.0.0.2 spam' } } })
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
    await setZones({ [SPAMCOP]: listed('127.0.0.2 spam') })
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
