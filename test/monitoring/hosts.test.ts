import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { deleteFact, saveFact } from '../../src/monitoring/facts/host-facts.sql.ts'
import { until } from '../alerts/module.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { enabled, IP, startLists } from '../servers/blacklists.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { NEVER, startMonitoring, type Change, type Host, type MonitoringTest } from './module.ts'

let lists: Rbldnsd
let database: FreshDatabase
let portreeve: MonitoringTest

let test = 0

beforeAll(async () => {
  ;[lists, database] = await Promise.all([startLists(), freshDatabase()])
  portreeve = await startMonitoring(database.url, { lists, intervals: NEVER })
})
afterAll(async () => {
  await portreeve.stop()
  await Promise.all([lists.stop(), database.drop()])
})
beforeEach(async () => {
  test += 1
  await portreeve.become(`Alice${test}`)
})

const SPAMCOP = 'bl.spamcop.net'

describe('monitored hosts', () => {
  it('are listed oldest first, with the specified fields', async () => {
    await portreeve.add(IP, { label: 'out' })
    await portreeve.add('2001:4860:4860:0::8888')
    const { json } = await portreeve.call<Host[]>('GET', 'hosts')
    expect(json.data.map(({ host }) => host)).toEqual([IP, '2001:4860:4860::8888'])
    expect(json.data[0]).toMatchObject({
      label: 'out',
      listedCount: 0,
      availability: { days: 30 },
    })
  })

  it('are checked on request, and the response has the result', async () => {
    const host = await portreeve.add(IP)
    const checked = await portreeve.check(host)
    expect(checked).toMatchObject({
      status: 'clean',
      totalChecked: enabled.length,
      unknownCount: 0,
    })
    const again = await portreeve.check(host)
    expect(Date.parse(again.lastCheckAt ?? '')).toBeGreaterThan(
      Date.parse(checked.lastCheckAt ?? ''),
    )
  })

  it('with an IPv6 address are checked only on lists that support it', async () => {
    const host = await portreeve.add('2001:4860:4860::8888')
    const { totalChecked } = await portreeve.check(host)
    expect(totalChecked).toBe(enabled.filter(({ ipv6 }) => ipv6).length)
  })

  it('exist once each, in any spelling', async () => {
    await portreeve.add('Bücher.example')
    expect((await portreeve.call('POST', 'hosts', { host: 'xn--bcher-kva.example.' })).status).toBe(
      409,
    )
  })

  it.each([
    [{}, 'host'],
    [{ host: '' }, 'host'],
    [{ host: '10.0.0.1' }, 'host'],
    [{ host: '127.0.0.1' }, 'host'],
    [{ host: '192.0.2.1' }, 'host'],
    [{ host: 'https://example.com/' }, 'host'],
    [{ host: IP, label: 7 }, 'label'],
    [{ host: IP, tlsPorts: [0] }, 'tlsPorts.0'],
    [{ host: IP, tlsPorts: ['443'] }, 'tlsPorts.0'],
    [{ host: IP, lists: { 'bl.spamcop.net': 'never' } }, 'lists.bl.spamcop.net'],
    [{ host: IP, lists: { 'no.such.list': 'mute' } }, 'lists'],
  ])('are refused when they cannot be: %j', async (body, path) => {
    const { status, json } = await portreeve.call('POST', 'hosts', body)
    expect([status, json.code]).toEqual([400, 'invalid_request'])
    expect(
      (json as unknown as { details: { path: string }[] }).details.map((detail) => detail.path),
    ).toContain(path)
  })

  it('raise no alert for a listing that is gone at the second check', async () => {
    const host = await portreeve.add(IP)
    await portreeve.check(host)
    await lists.setZones({ [SPAMCOP]: { listed: { [IP]: '127.0.0.2 by mistake' } } })
    const suspected = await portreeve.check(host)
    const suspectedAt = Date.now()
    expect(suspected).toMatchObject({
      status: 'clean',
      listedCount: 0,
      listings: [{ dnsbl: SPAMCOP, state: 'suspected' }],
    })
    await lists.setZones({ [SPAMCOP]: {} })
    expect((await portreeve.check(host)).listings).toEqual([])
    await until(Date.now, (now) => now - suspectedAt > NEVER.confirmMs)
    expect((await portreeve.check(host)).listings).toEqual([])
    expect(await portreeve.alertTitles()).toEqual([])
    expect(await portreeve.history(host)).toEqual([])
  })

  it('have a history in pages', async () => {
    const host = await portreeve.add(IP)
    await portreeve.check(host)
    const change = {
      hostId: host.id,
      kind: 'blacklist',
      name: 'X',
      dnsbl: 'x.test',
      ip: IP,
      fromState: 'clean',
      toState: 'listed',
    }
    for (const day of [1, 2, 3]) {
      await portreeve.db
        .insertInto('monitoredEvent')
        .values({ ...change, at: `2026-11-0${day}T00:00:00Z` })
        .execute()
    }
    type Page = { events: Change[]; pagination: object }
    const page = async (query: string) =>
      (await portreeve.call<Page>('GET', `hosts/${host.id}/history?${query}`)).json.data
    const second = await page('page=2&limit=2')
    expect(second.pagination).toEqual({ page: 2, total: 3, totalPages: 2 })
    expect(second.events).toMatchObject([
      { at: '2026-11-01T00:00:00.000Z', from: 'clean', to: 'listed', codes: [], reason: null },
    ])
    expect((await portreeve.call('GET', `hosts/${host.id}/history?limit=101`)).status).toBe(400)
  })

  it('have an availability: the share of the known time without an important listing', async () => {
    const host = await portreeve.add(IP)
    const hours = (ago: number) => new Date(Date.now() - ago * 3_600_000)
    const periods = [
      { state: 'clean', beganAt: hours(100) },
      { state: 'unknown', beganAt: hours(60) },
      { state: 'listed', beganAt: hours(20) },
      { state: 'clean', beganAt: hours(10) },
    ]
    await portreeve.seen(host, ({ lastCheckAt }) => lastCheckAt !== null)
    await portreeve.db.deleteFrom('monitoredPeriod').where('hostId', '=', host.id).execute()
    await portreeve.db
      .insertInto('monitoredPeriod')
      .values(periods.map((period) => ({ hostId: host.id, ...period })))
      .execute()
    const { availability, periods: shown } = await portreeve.read(host.id)
    expect(shown.map(({ state, from }) => [state, Date.parse(from)])).toEqual(
      periods.map(({ state, beganAt }) => [state, beganAt.getTime()]),
    )
    expect(shown.slice(0, -1).map(({ to }) => to)).toEqual(shown.slice(1).map(({ from }) => from))
    expect(availability.percent).toBeCloseTo(83.333, 1)
    expect(availability.listedSeconds).toBe(36_000)
    expect(availability.unknownSeconds).toBe(144_000)
  })

  it('have a state for each of the last 30 UTC days: a listing counts for its whole day', async () => {
    const host = await portreeve.add(IP)
    await portreeve.seen(host, ({ lastCheckAt }) => lastCheckAt !== null)
    await portreeve.db.deleteFrom('monitoredPeriod').where('hostId', '=', host.id).execute()
    const midnight = Math.floor(Date.now() / 86_400_000) * 86_400_000
    const at = (days: number, hours: number) =>
      new Date(midnight - days * 86_400_000 + hours * 3_600_000)
    const periods = [
      { state: 'clean', beganAt: at(9, 12) },
      { state: 'listed', beganAt: at(6, 23) },
      { state: 'unknown', beganAt: at(5, 1) },
      { state: 'clean', beganAt: at(3, 20) },
    ]
    await portreeve.db
      .insertInto('monitoredPeriod')
      .values(periods.map((period) => ({ hostId: host.id, ...period })))
      .execute()
    const { json } = await portreeve.call<Host[]>('GET', 'hosts')
    const { days, certificate } = json.data.find(({ id }) => id === host.id) as Host
    expect(days).toHaveLength(30)
    expect(days.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 'none'))
    expect(days.slice(20).join(' ')).toBe(
      'clean clean clean listed listed unknown clean clean clean clean',
    )
    expect(certificate).toBeNull()
  })

  it('have the certificate that needs attention first, not the one that expires first', async () => {
    const host = await portreeve.add(IP)
    await portreeve.seen(host, ({ lastCheckAt }) => lastCheckAt !== null)
    const inDays = (days: number) => new Date(Date.now() + (days + 0.5) * 86_400_000).toISOString()
    const certificates = [
      { subject: '25', state: 'valid', validTo: inDays(40) },
      { subject: '993', state: 'wrong-host', validTo: inDays(80) },
    ]
    for (const { subject, state, validTo } of certificates)
      await saveFact(portreeve.db, {
        hostId: host.id,
        kind: 'certificate',
        subject,
        state,
        detail: { validTo, issuer: '', names: [] },
        since: new Date(),
        suspect: null,
        suspectAt: null,
      })
    const shown = async () => {
      const { json } = await portreeve.call<Host[]>('GET', 'hosts')
      return json.data.find(({ id }) => id === host.id)?.certificate
    }
    expect(await shown()).toEqual({ state: 'wrong-host', daysRemaining: 80 })
    await deleteFact(portreeve.db, { hostId: host.id, kind: 'certificate', subject: '993' })
    expect(await shown()).toEqual({ state: 'valid', daysRemaining: 40 })
  })

  it('count time without checks as unknown', async () => {
    const host = await portreeve.add(IP)
    await portreeve.check(host)
    const longAgo = new Date(Date.now() - 5e9)
    await portreeve.db
      .updateTable('monitoredPeriod')
      .set({ beganAt: longAgo })
      .where('hostId', '=', host.id)
      .execute()
    await portreeve.db
      .updateTable('monitoredHost')
      .set({ lastCheckAt: longAgo })
      .where('id', '=', host.id)
      .execute()
    await portreeve.check(host)
    const { availability, periods } = await portreeve.read(host.id)
    expect(availability.unknownSeconds).toBeGreaterThan(2_000_000)
    expect(Date.now() - Date.parse(periods[0]?.from ?? '')).toBeLessThan(30 * 86_400_000 + 60_000)
  })

  it('are visible to their own account only', async () => {
    const { id } = await portreeve.add(IP)
    const charlie = await portreeve.addPerson(`Charlie${test}`)
    const asCharlie = (method: string, path: string, body?: object) =>
      portreeve.call<unknown>(method, path, body, charlie.token)
    const answers = await Promise.all([
      asCharlie('GET', `hosts/${id}`),
      asCharlie('PATCH', `hosts/${id}`, { label: 'mine' }),
      asCharlie('DELETE', `hosts/${id}`),
      asCharlie('POST', `hosts/${id}/check`),
      asCharlie('GET', `hosts/${id}/history`),
    ])
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
    expect((await asCharlie('GET', 'hosts')).json.data).toEqual([])
    expect((await portreeve.call('GET', 'hosts', undefined, 'no token')).status).toBe(401)
  })

  it('are deleted with their facts', async () => {
    const host = await portreeve.add(IP)
    await portreeve.check(host)
    expect((await portreeve.call('DELETE', `hosts/${host.id}`)).status).toBe(200)
    expect((await portreeve.call('GET', `hosts/${host.id}`)).status).toBe(404)
    expect(
      await portreeve.db
        .selectFrom('monitoredAddress')
        .selectAll()
        .where('hostId', '=', host.id)
        .execute(),
    ).toEqual([])
  })
})

describe('the lists', () => {
  it('have a mode that an account can set and reset', async () => {
    type List = { dnsbl: string; mode: string; isDefault: boolean }
    const modeOf = async () =>
      (await portreeve.call<List[]>('GET', 'lists')).json.data.find(
        ({ dnsbl }) => dnsbl === SPAMCOP,
      ) as List
    expect(await modeOf()).toMatchObject({ mode: 'alert', isDefault: true })
    await portreeve.call('PUT', `lists/${SPAMCOP}`, { mode: 'watch' })
    expect(await modeOf()).toMatchObject({ mode: 'watch', isDefault: false })
    await portreeve.call('PUT', `lists/${SPAMCOP}`, { mode: 'default' })
    expect(await modeOf()).toMatchObject({ mode: 'alert', isDefault: true })
    const unknown = await portreeve.call('PUT', 'lists/no.such.list', { mode: 'mute' })
    expect([unknown.status, unknown.json.code]).toEqual([404, 'not_found'])
  })
})
