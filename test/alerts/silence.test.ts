import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { removeEverybody } from '../people.ts'
import { startAlertService, type AlertService } from '../servers/alert-service.ts'
import { aWhile, startAlerts, until, type AlertsTest, type Person } from './module.ts'

type Incident = {
  id: string
  state: string
  acknowledgedAt: string | null
  acknowledgedBy: string | null
  snoozedUntil: string | null
  snoozedBy: string | null
  mute: { id: string; reason: string; by: string } | null
}
type Alert = { title: string; phase: string; silenced: string | null; text: string }
type Mute = { id: string; object: string | null; kind: string | null; createdBy: string }

let database: FreshDatabase
let services: AlertService[]
let portreeve: AlertsTest
let alice: Person

beforeAll(async () => void (database = await freshDatabase()))
afterAll(() => database.drop())
beforeEach(() => void (services = []))
afterEach(async () => {
  await portreeve.stop()
  for (const service of services) await service.close()
  await removeEverybody(database.db)
})

const LIST = 'blacklist/192.0.2.1/bl.test'

/** An instance that sends to fakes of these services. */
async function start(...types: string[]): Promise<AlertService[]> {
  for (const type of types) services.push(await startAlertService(type))
  const origins = new Map(services.flatMap((service) => [...service.origins]))
  portreeve = await startAlerts(database.url, { origins })
  alice = await portreeve.addPerson('Alice')
  for (const [index, type] of types.entries()) {
    const body = { type, settings: services[index]?.settings }
    const { status, json } = await portreeve.call(alice.token, 'POST', 'alerts/channels', body)
    expect(status, json.error).toBe(201)
  }
  return services
}

const raise = (key: string, more: Parameters<AlertsTest['raise']>[2] = {}) =>
  portreeve.raise(alice.id, key, { incident: LIST, ...more })

const resolve = (key: string) => raise(key, { phase: 'resolved', severity: 'info', title: key })

async function call<T>(method: string, path: string, body?: object, person = alice) {
  return portreeve.call<T>(person.token, method, `alerts/${path}`, body)
}

async function incident(): Promise<Incident> {
  const { json } = await call<{ incidents: Incident[] }>('GET', 'incidents')
  return json.data.incidents[0] as Incident
}

async function alerts(): Promise<Alert[]> {
  const { json } = await portreeve.call<{ alerts: Alert[] }>(alice.token, 'GET', 'alerts')
  return json.data.alerts
}

const shownAt = (service: AlertService | undefined) => service?.shown ?? []
const gets = (service: AlertService | undefined, count: number) =>
  until(
    () => shownAt(service),
    (all) => all.length >= count,
  )

/** Lets the snooze of all incidents end now. */
const endSnooze = () =>
  portreeve.db
    .updateTable('alertIncident')
    .set({ snoozedUntil: new Date(Date.now() - 1_000) })
    .where('snoozedUntil', 'is not', null)
    .execute()

describe('an acknowledged incident', () => {
  it('sends no news, but its end, and tells the services', async () => {
    const [pagerduty, discord] = await start('pagerduty', 'discord')
    await raise('one')
    await gets(pagerduty, 1)
    await gets(discord, 1)
    const { id } = await incident()
    expect((await call('POST', `incidents/${id}/acknowledge`)).status).toBe(200)
    expect(await incident()).toMatchObject({ acknowledgedBy: alice.email })
    const [, acknowledged] = await gets(pagerduty, 2)
    expect(acknowledged).toMatch(/^acknowledge \w{32}$/)
    const [, edited] = await gets(discord, 2)
    expect(edited).toMatch(/^edited: one is listed[^]*Acknowledged by alice@people\.test/)
    await raise('two')
    await aWhile()
    expect([shownAt(pagerduty).length, shownAt(discord).length]).toEqual([2, 2])
    expect(await alerts()).toMatchObject([{ silenced: 'acknowledged' }, { silenced: null }])
    await resolve('gone')
    expect((await gets(pagerduty, 3))[2]).toBe(acknowledged?.replace('acknowledge', 'resolve'))
    expect((await gets(discord, 4))[2]).toMatch(/^gone/)
    expect(services.flatMap(({ violations }) => violations)).toEqual([])
  })

  it('alerts again when it becomes critical, and is then not acknowledged', async () => {
    const [slack] = await start('slack')
    await raise('one', { severity: 'warning' })
    const { id } = await incident()
    await call('POST', `incidents/${id}/acknowledge`)
    await raise('two', { severity: 'error' })
    await raise('three', { severity: 'critical' })
    await gets(slack, 2)
    expect(shownAt(slack).join('\n')).toMatch(/one[^]*three/)
    expect(shownAt(slack).join('\n')).not.toContain('two is listed')
    expect(await incident()).toMatchObject({ acknowledgedAt: null, acknowledgedBy: null })
  })

  it('sends news again when the acknowledgement is taken back', async () => {
    const [slack] = await start('slack')
    await raise('one')
    await gets(slack, 1)
    const { id } = await incident()
    await call('POST', `incidents/${id}/acknowledge`)
    await call('DELETE', `incidents/${id}/acknowledge`)
    expect(await incident()).toMatchObject({ acknowledgedAt: null })
    await raise('two')
    expect((await gets(slack, 2))[1]).toMatch('two is listed')
  })
})

describe('a snoozed incident', () => {
  it('holds news back and sends them once, as one message, at the end', async () => {
    const [slack] = await start('slack')
    await raise('one')
    await gets(slack, 1)
    const { id } = await incident()
    expect((await call('POST', `incidents/${id}/snooze`, { minutes: 60 })).status).toBe(200)
    expect(await incident()).toMatchObject({ snoozedBy: alice.email })
    await raise('two')
    await raise('three', { severity: 'critical' })
    await aWhile()
    expect(shownAt(slack)).toHaveLength(1)
    await endSnooze()
    const [, message] = await gets(slack, 2)
    expect(message).toMatch(
      /Still open: three is listed[^]*2 alerts were held back[^]*two[^]*three/,
    )
    expect(await incident()).toMatchObject({ snoozedUntil: null, state: 'open' })
    await aWhile()
    expect(shownAt(slack)).toHaveLength(2)
    expect((await alerts()).map(({ silenced }) => silenced)).toEqual([
      null,
      'summarised',
      'summarised',
      null,
    ])
    // A second snooze does not repeat what the first one held back.
    await call('POST', `incidents/${id}/snooze`, { minutes: 60 })
    await endSnooze()
    expect((await gets(slack, 3))[2]).not.toContain('held back')
  })

  it('sends its end when the snooze is over, to paging services at once', async () => {
    const [slack, pagerduty] = await start('slack', 'pagerduty')
    await raise('one')
    await gets(slack, 1)
    await gets(pagerduty, 1)
    const { id } = await incident()
    await call('POST', `incidents/${id}/snooze`, { minutes: 60 })
    await resolve('gone')
    expect((await gets(pagerduty, 2))[1]).toMatch(/^resolve /)
    await aWhile()
    expect(shownAt(slack)).toHaveLength(1)
    await endSnooze()
    expect((await gets(slack, 2))[1]).toMatch('gone')
    await aWhile()
    expect([shownAt(slack).length, shownAt(pagerduty).length]).toEqual([2, 2])
  })

  it('sends nothing at the end of the snooze when it is acknowledged or muted', async () => {
    const [slack] = await start('slack')
    await raise('one')
    await gets(slack, 1)
    const { id } = await incident()
    await call('POST', `incidents/${id}/snooze`, { minutes: 60 })
    await raise('two')
    await call('POST', `incidents/${id}/acknowledge`)
    await endSnooze()
    await until(incident, ({ snoozedUntil }) => snoozedUntil === null)
    await aWhile()
    expect(shownAt(slack)).toHaveLength(1)
    expect((await alerts())[0]).toMatchObject({ silenced: 'acknowledged' })
  })

  it('sends what it held back when the snooze is ended by hand, and nothing otherwise', async () => {
    const [slack] = await start('slack')
    await raise('one')
    await gets(slack, 1)
    const { id } = await incident()
    await call('POST', `incidents/${id}/snooze`, { minutes: 60 })
    await call('DELETE', `incidents/${id}/snooze`)
    await call('POST', `incidents/${id}/snooze`, { minutes: 60 })
    await raise('two')
    await call('DELETE', `incidents/${id}/snooze`)
    expect((await gets(slack, 2))[1]).toMatch(/1 alert was held back[^]*two/)
    await aWhile()
    expect(shownAt(slack)).toHaveLength(2)
  })

  it('takes alerts out of messages that wait', async () => {
    services.push(await startAlertService('slack'))
    const origins = services[0]?.origins as ReadonlyMap<string, string>
    portreeve = await startAlerts(database.url, {
      origins,
      batching: { holdMs: 0, gapMs: 0, burstHoldMs: 800 },
    })
    alice = await portreeve.addPerson('Alice')
    await call('POST', 'channels', { type: 'slack', settings: services[0]?.settings })
    await raise('one')
    const { id } = await incident()
    await call('POST', `incidents/${id}/snooze`, { minutes: 60 })
    await aWhile(1_500)
    expect(shownAt(services[0])).toEqual([])
    await endSnooze()
    expect((await gets(services[0], 1))[0]).toMatch(/1 alert was held back[^]*one is listed/)
  })

  it('refuses durations outside of 15 minutes and 30 days, and incidents that ended', async () => {
    await start()
    await raise('one')
    const { id } = await incident()
    const soon = new Date(Date.now() + 60_000).toISOString()
    const late = new Date(Date.now() + 31 * 86_400_000).toISOString()
    for (const body of [
      {},
      { minutes: 14 },
      { minutes: 43_201 },
      { until: soon },
      { until: late },
      { until: late, minutes: 60 },
    ])
      expect((await call('POST', `incidents/${id}/snooze`, body)).status).toBe(400)
    await resolve('gone')
    for (const action of ['acknowledge', 'snooze']) {
      const body = action === 'snooze' ? { minutes: 60 } : undefined
      const { status, json } = await call('POST', `incidents/${id}/${action}`, body)
      expect([status, json.error]).toEqual([409, 'This incident has already ended.'])
    }
  })
})

describe('a mute', () => {
  it('keeps alerts about an object from being sent, and records them', async () => {
    const [slack] = await start('slack')
    const mute = { object: 'blacklist/192.0.2.1', reason: 'Being delisted', minutes: 1440 }
    const { json, status } = await call<Mute>('POST', 'mutes', mute)
    expect([status, json.data.createdBy]).toEqual([201, alice.email])
    await raise('one')
    await raise('other', { incident: 'blacklist/192.0.2.10/bl.test' })
    await gets(slack, 1)
    await aWhile()
    expect(shownAt(slack)).toHaveLength(1)
    expect(shownAt(slack)[0]).toContain('other is listed')
    expect((await alerts()).map(({ silenced }) => silenced)).toEqual([null, 'muted'])
    const { json: list } = await call<{ incidents: Incident[] }>('GET', 'incidents')
    expect(list.data.incidents.map((one) => one.mute)).toMatchObject([
      null,
      { reason: 'Being delisted', by: alice.email },
    ])
    expect((await call('DELETE', `mutes/${json.data.id}`)).status).toBe(200)
    await raise('two')
    expect((await gets(slack, 2))[1]).toContain('two is listed')
  })

  it('covers a page of the dashboard, a kind or its first word, until it ends', async () => {
    await start()
    const cases: [object, object, boolean][] = [
      [{ object: '/monitoring/1' }, { path: '/monitoring/1', incident: null }, true],
      [{ object: '/monitoring/1' }, { path: '/monitoring/12' }, false],
      [{ kind: 'dns' }, { kind: 'dns.changed', phase: 'once' }, true],
      [{ kind: 'dns.changed' }, { kind: 'dns.other' }, false],
      [{ kind: 'dns', object: '/domains' }, { kind: 'dns.changed', path: '/monitoring' }, false],
      [{ kind: 'dns', object: '/domains' }, { kind: 'dns.changed', path: '/domains' }, true],
    ]
    for (const [index, [mute, alert, isMuted]] of cases.entries()) {
      const { json } = await call<Mute>('POST', 'mutes', mute)
      await raise(`case ${index}`, { incident: `case/${index}`, ...alert })
      expect((await alerts())[0]?.silenced, String(index)).toBe(isMuted ? 'muted' : null)
      await call('DELETE', `mutes/${json.data.id}`)
    }
    await call('POST', 'mutes', { kind: 'blacklist', minutes: 60 })
    await portreeve.db
      .updateTable('alertMute')
      .set({ endsAt: new Date(Date.now() - 1_000) })
      .execute()
    await raise('after')
    expect((await alerts())[0]).toMatchObject({ silenced: null })
    expect((await call<Mute[]>('GET', 'mutes')).json.data).toEqual([])
  })

  it('is replaced by one of the same object, needs a subject, and has a limit', async () => {
    await start()
    await call('POST', 'mutes', { kind: 'dns', reason: 'first' })
    await call('POST', 'mutes', { kind: 'dns', reason: 'second' })
    const { json } = await call<{ reason: string }[]>('GET', 'mutes')
    expect(json.data).toMatchObject([{ reason: 'second' }])
    for (const body of [
      {},
      { kind: 'Not a kind' },
      { object: 'with space' },
      { object: '' },
      { kind: 'dns', minutes: 1 },
      { kind: 'dns', until: 'tomorrow' },
      { kind: 'dns', reason: 'x'.repeat(201) },
    ])
      expect((await call('POST', 'mutes', body)).status, JSON.stringify(body)).toBe(400)
    await portreeve.db
      .insertInto('alertMute')
      .values(
        Array.from({ length: 199 }, (_, n) => ({ workspaceId: alice.id, object: `/object/${n}` })),
      )
      .execute()
    const full = await call('POST', 'mutes', { kind: 'domain' })
    expect([full.status, full.json.code]).toEqual([409, 'conflict'])
    expect((await call('POST', 'mutes', { kind: 'dns', reason: 'third' })).status).toBe(201)
  })
})

describe('access', () => {
  it('hides incidents and mutes from others', async () => {
    await start()
    const [bob, charlie] = [await portreeve.addPerson('Bob'), await portreeve.addPerson('Charlie')]
    await raise('one')
    const { id } = await incident()
    const { json } = await call<Mute>('POST', 'mutes', { kind: 'dns' })
    for (const person of [bob, charlie]) {
      const calls = [
        call('POST', `incidents/${id}/acknowledge`, undefined, person),
        call('DELETE', `incidents/${id}/acknowledge`, undefined, person),
        call('POST', `incidents/${id}/snooze`, { minutes: 60 }, person),
        call('DELETE', `incidents/${id}/snooze`, undefined, person),
        call('DELETE', `mutes/${json.data.id}`, undefined, person),
      ]
      expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 404))
      expect((await call<Mute[]>('GET', 'mutes', undefined, person)).json.data).toEqual([])
    }
    // A mute of Bob does not cover what Alice has.
    await call('POST', 'mutes', { kind: 'blacklist' }, bob)
    await raise('two')
    expect((await alerts())[0]).toMatchObject({ silenced: null })
    expect(await incident()).toMatchObject({ acknowledgedAt: null, snoozedUntil: null, mute: null })
  })
})
