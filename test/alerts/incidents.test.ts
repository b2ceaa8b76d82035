import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { closeIncidentsOf } from '../../src/alerts/incidents.sql.ts'
import { raiseAlert, raiseResolved } from '../../src/alerts/raise.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startAlerts, type AlertsTest, type Person } from './module.ts'

type Alert = { title: string; phase: string; severity: string; incident: string; state: string }
type Incident = {
  id: string
  key: string
  state: string
  severity: string
  title: string
  alerts: number
}
type Incidents = { incidents: Incident[]; pagination: { total: number } }

let database: FreshDatabase
let portreeve: AlertsTest
let alice: Person
let charlie: Person

beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startAlerts(database.url, { works: false })
})
beforeEach(async () => {
  alice = await portreeve.addPerson('Alice')
  charlie = await portreeve.addPerson('Charlie')
})
afterAll(async () => {
  await portreeve.stop()
  await database.drop()
})

const LIST = 'blacklist/192.0.2.1/bl.test'

const raise = (key: string, more: Parameters<AlertsTest['raise']>[2] = {}, person = alice) =>
  portreeve.raise(person.id, key, { incident: LIST, ...more })

async function incidents(query = '', person = alice): Promise<Incidents> {
  const { json } = await portreeve.call<Incidents>(person.token, 'GET', `alerts/incidents${query}`)
  return json.data
}

async function alerts(query = '', person = alice): Promise<Alert[]> {
  const { json } = await portreeve.call<{ alerts: Alert[] }>(person.token, 'GET', `alerts${query}`)
  return json.data.alerts
}

describe('an incident', () => {
  it('begins, changes and ends with its alerts', async () => {
    await raise('one', { severity: 'warning' })
    await raise('two', { severity: 'critical' })
    expect((await incidents()).incidents).toMatchObject([
      { key: LIST, state: 'open', severity: 'critical', title: 'two is listed', alerts: 2 },
    ])
    await raise('three', { phase: 'resolved', severity: 'info' })
    expect((await incidents()).incidents).toMatchObject([
      { key: LIST, state: 'resolved', severity: 'critical', title: 'two is listed', alerts: 3 },
    ])
    expect(await alerts()).toMatchObject([
      { phase: 'resolved', severity: 'info', incident: LIST, state: 'resolved' },
      { phase: 'update', severity: 'critical', incident: LIST, state: 'resolved' },
      { phase: 'open', severity: 'warning', incident: LIST, state: 'resolved' },
    ])
  })

  it('is another one when the problem comes back', async () => {
    await raise('one')
    await raise('two', { phase: 'resolved' })
    await raise('three')
    const { incidents: all, pagination } = await incidents()
    expect(all.map(({ state }) => state)).toEqual(['open', 'resolved'])
    expect(pagination.total).toBe(2)
  })

  it('is opened once by alerts that are raised at the same moment', async () => {
    await Promise.all(Array.from({ length: 10 }, (_, index) => raise(`alert ${index}`)))
    expect((await incidents()).incidents).toMatchObject([{ state: 'open', alerts: 10 }])
    const phases = (await alerts()).map(({ phase }) => phase)
    expect(phases.filter((phase) => phase === 'open')).toHaveLength(1)
  })

  it('is not recorded when the transaction of its alert fails', async () => {
    const failing = database.db.transaction().execute(async (trx) => {
      await raiseAlert(trx, {
        workspaceId: alice.id,
        kind: 'dns.changed',
        key: 'rolled back',
        incident: LIST,
        phase: 'open',
        severity: 'error',
        title: 'a',
        text: 'b',
        nextStep: '',
        path: '/dns',
        at: new Date(),
      })
      throw new Error('the caller fails')
    })
    await expect(failing).rejects.toThrow('the caller fails')
    expect((await incidents()).incidents).toEqual([])
  })

  it('ends without an alert when its object is deleted', async () => {
    await raise('one', { path: '/monitoring/a' })
    await raise('two', { path: '/monitoring/b', incident: 'blacklist/192.0.2.2/bl.test' })
    await closeIncidentsOf(database.db, alice.id, '/monitoring/a')
    expect((await incidents('?state=open')).incidents).toMatchObject([
      { key: 'blacklist/192.0.2.2/bl.test' },
    ])
    expect(await alerts()).toHaveLength(2)
  })

  it('is resolved by “raiseResolved” only while it is open', async () => {
    const resolving = {
      workspaceId: alice.id,
      kind: 'dmarc.mailbox',
      key: 'recovery',
      incident: LIST,
      title: 'Resolved',
      text: 'It works again.',
      nextStep: '',
      path: '/dmarc',
      at: new Date(),
    }
    expect(await raiseResolved(database.db, resolving)).toBe(false)
    expect(await alerts()).toEqual([])
    await raise('one')
    expect(await raiseResolved(database.db, resolving)).toBe(true)
    expect((await incidents()).incidents).toMatchObject([{ state: 'resolved' }])
  })

  it('keeps an end whose beginning was not recorded as an alert', async () => {
    await raise('the end', { phase: 'resolved' })
    expect(await alerts()).toMatchObject([{ phase: 'resolved', incident: null, state: null }])
    expect((await incidents()).incidents).toEqual([])
  })
})

describe('the lists of alerts and incidents', () => {
  it('can be filtered', async () => {
    await raise('one', { severity: 'critical' })
    await raise('two', {
      severity: 'warning',
      incident: 'certificate/a/443',
      kind: 'certificate.expired',
    })
    await raise('three', { severity: 'info', phase: 'resolved', incident: 'certificate/a/443' })
    await raise('four', { severity: 'info', phase: 'once', incident: null })
    expect(await alerts('?severity=info')).toHaveLength(2)
    expect(await alerts('?phase=open')).toHaveLength(2)
    expect(await alerts('?state=open')).toMatchObject([{ title: 'one is listed' }])
    expect(await alerts('?state=resolved')).toHaveLength(2)
    expect((await incidents('?kind=certificate')).incidents).toMatchObject([{ state: 'resolved' }])
    const [open] = (await incidents('?severity=critical')).incidents
    expect(await alerts(`?incidentId=${open?.id}`)).toMatchObject([{ title: 'one is listed' }])
    const wrong = await portreeve.call(alice.token, 'GET', 'alerts?severity=loud')
    expect(wrong).toMatchObject({ status: 400, json: { code: 'invalid_request' } })
  })

  it('show nothing of other workspaces', async () => {
    await raise('one')
    const [incident] = (await incidents()).incidents
    expect((await incidents('', charlie)).incidents).toEqual([])
    expect(await alerts(`?incidentId=${incident?.id}`, charlie)).toEqual([])
    const path = `alerts/incidents/${incident?.id}`
    expect((await portreeve.call(alice.token, 'GET', path)).status).toBe(200)
    expect((await portreeve.call(charlie.token, 'GET', path)).status).toBe(404)
    await raise('one', {}, charlie)
    expect((await incidents('', charlie)).incidents).toMatchObject([{ alerts: 1 }])
  })
})
