import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { linkToken } from '../../src/alerts/silence/links/silence-token.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { removeEverybody } from '../people.ts'
import { startAlertService, type AlertService } from '../servers/alert-service.ts'
import { SECRET_KEY, startAlerts, until, type AlertsTest, type Person } from './module.ts'

type Incident = {
  id: string
  acknowledgedAt: string | null
  acknowledgedBy: string | null
  snoozedUntil: string | null
  snoozedBy: string | null
  mute: { by: string; until: string | null } | null
}

let database: FreshDatabase
let slack: AlertService
let portreeve: AlertsTest
let alice: Person
let channelId: string

const LIST = 'blacklist/192.0.2.1/bl.test'

beforeAll(async () => void (database = await freshDatabase()))
afterAll(() => database.drop())
beforeEach(async () => {
  slack = await startAlertService('slack')
  portreeve = await startAlerts(database.url, { origins: slack.origins })
  alice = await portreeve.addPerson('Alice')
  const body = { type: 'slack', settings: slack.settings }
  const { json } = await portreeve.call<{ id: string }>(
    alice.token,
    'POST',
    'alerts/channels',
    body,
  )
  channelId = json.data.id
})
afterEach(async () => {
  await portreeve.stop()
  await slack.close()
  await removeEverybody(database.db)
})

/** Raises an alert; the path of the page that its message links to. */
async function linkOf(key: string, name = LIST): Promise<string> {
  const before = slack.calls.length
  await portreeve.raise(alice.id, key, { incident: name })
  await until(
    () => slack.calls.length,
    (count) => count > before,
  )
  const [path] = /\/alerts\/act\/[0-9a-f]+/.exec(slack.calls.at(-1)?.body ?? '') ?? []
  if (path === undefined) throw new Error('the message has no link')
  return path
}

const open = (path: string, method = 'GET') => fetch(new URL(path, portreeve.url), { method })

const post = (path: string, fields: Record<string, string>) =>
  fetch(new URL(path, portreeve.url), { method: 'POST', body: new URLSearchParams(fields) })

async function incident(): Promise<Incident> {
  const { json } = await portreeve.call<{ incidents: Incident[] }>(
    alice.token,
    'GET',
    'alerts/incidents',
  )
  return json.data.incidents[0] as Incident
}

const untouched = { acknowledgedAt: null, snoozedUntil: null, mute: null }

describe('a link in a message', () => {
  it('does nothing when it is opened, previewed or scanned', async () => {
    const path = await linkOf('one')
    for (const action of ['', '?do=acknowledge', '?do=snooze', '?do=mute'])
      for (const method of ['GET', 'HEAD', 'GET'])
        expect((await open(path + action, method)).status).toBe(200)
    const page = await open(`${path}?do=snooze`)
    const html = await page.text()
    expect(html).toContain('<h1>one is listed</h1>')
    expect(html).not.toMatch(/<script|alice@|192\.0\.2\.1|blacklist\//)
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'/)
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(await incident()).toMatchObject(untouched)
  })

  it('acknowledges once, and says afterwards that it was used', async () => {
    const path = await linkOf('one')
    const answers = await Promise.all([1, 2, 3].map(() => post(path, { action: 'acknowledge' })))
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200, 410, 410,
    ])
    const used = await open(path)
    expect([used.status, await used.text()]).toEqual([
      410,
      expect.stringContaining('This link was already used'),
    ])
    expect(await incident()).toMatchObject({
      acknowledgedBy: expect.stringMatching(/^a link in Slack/) as string,
    })
    await portreeve.call(
      alice.token,
      'DELETE',
      `alerts/incidents/${(await incident()).id}/acknowledge`,
    )
    expect((await post(path, { action: 'mute', minutes: '0' })).status).toBe(410)
    expect(await incident()).toMatchObject(untouched)
    const entries = await portreeve.db.selectFrom('auditEntry').selectAll().execute()
    expect(entries).toMatchObject([
      {
        workspaceId: alice.id,
        actorId: null,
        actorEmail: expect.stringMatching(/^Link in Slack/) as string,
        what: 'Acknowledge an incident',
        details: { title: 'one is listed' },
      },
    ])
    expect(JSON.stringify(entries)).not.toContain(path.slice(-40))
  })

  it('snoozes and mutes for the chosen time', async () => {
    const snooze = await linkOf('one')
    expect((await post(snooze, { action: 'snooze', minutes: '240' })).status).toBe(200)
    const { snoozedUntil } = await incident()
    expect(Date.parse(snoozedUntil ?? '') - Date.now()).toBeGreaterThan(239 * 60_000)
    const mute = await linkOf('two', 'blacklist/192.0.2.2/bl.test')
    expect((await post(mute, { action: 'mute', minutes: '0' })).status).toBe(200)
    expect((await incident()).mute).toMatchObject({ until: null })
  })

  it('refuses durations and actions that the page does not offer', async () => {
    const path = await linkOf('one')
    for (const fields of [
      {},
      { action: 'delete' },
      { action: 'snooze' },
      { action: 'snooze', minutes: '1' },
      { action: 'snooze', minutes: '0' },
      { action: 'mute', minutes: '-1' },
      { action: 'mute', minutes: '99999999' },
    ])
      expect((await post(path, fields as Record<string, string>)).status).toBe(400)
    expect(await incident()).toMatchObject(untouched)
    expect((await post(path, { action: 'acknowledge' })).status).toBe(200)
  })

  it('does not work when it was changed, is incomplete or is for another workspace', async () => {
    const path = await linkOf('one')
    const token = path.split('/').at(-1) ?? ''
    const bob = await portreeve.addPerson('Bob')
    await portreeve.raise(bob.id, 'of Bob', { incident: LIST })
    const { id: alertOfBob } = await portreeve.db
      .selectFrom('alert')
      .select('id')
      .where('workspaceId', '=', bob.id)
      .executeTakeFirstOrThrow()
    const flipped = (at: number) =>
      token.slice(0, at) + (token[at] === '0' ? '1' : '0') + token.slice(at + 1)
    const { alertId } = { alertId: alertOfBob }
    for (const wrong of [
      ...[0, 40, 66, 80, 111].map(flipped),
      token.slice(0, -2),
      `${token.slice(0, -1)}g`,
      'x',
      // A channel of Alice and an alert of Bob, signed by the service itself.
      linkToken.create(SECRET_KEY, { alertId, channelId }),
      linkToken.create('another key', { alertId, channelId }),
    ]) {
      const url = `/alerts/act/${wrong}`
      expect((await open(url)).status, wrong).toBe(404)
      expect((await post(url, { action: 'acknowledge' })).status, wrong).toBe(404)
    }
    expect((await open(`${path}00`)).status).toBe(404)
    expect(await incident()).toMatchObject(untouched)
  })

  it('expires after a week', async () => {
    const path = await linkOf('one')
    const { id: alertId } = await portreeve.db
      .selectFrom('alert')
      .select('id')
      .executeTakeFirstOrThrow()
    const weekAgo = Date.now() - 7 * 86_400_000
    const expired = linkToken.create(SECRET_KEY, { alertId, channelId }, weekAgo - 1_000)
    const almost = linkToken.create(SECRET_KEY, { alertId, channelId }, weekAgo + 60_000)
    const page = await open(`/alerts/act/${expired}`)
    expect([page.status, await page.text()]).toEqual([
      410,
      expect.stringContaining('This link has expired'),
    ])
    expect((await post(`/alerts/act/${expired}`, { action: 'acknowledge' })).status).toBe(410)
    expect((await open(`/alerts/act/${almost}`)).status).toBe(200)
    // Another token for the same message is no second use.
    expect((await post(`/alerts/act/${almost}`, { action: 'acknowledge' })).status).toBe(200)
    expect((await post(path, { action: 'acknowledge' })).status).toBe(410)
  })

  it('has nothing to do for a problem that ended', async () => {
    const path = await linkOf('one')
    await portreeve.raise(alice.id, 'end', { incident: LIST, phase: 'resolved', severity: 'info' })
    const page = await open(path)
    expect([page.status, await page.text()]).toEqual([
      410,
      expect.stringContaining('already ended'),
    ])
    expect((await post(path, { action: 'snooze', minutes: '60' })).status).toBe(410)
  })

  it('ends with its channel, and where the channel has no links any more', async () => {
    const path = await linkOf('one')
    const change = (body: object) =>
      portreeve.call(alice.token, 'PATCH', `alerts/channels/${channelId}`, body)
    expect((await change({ actionLinks: false })).json.data).toMatchObject({ actionLinks: false })
    expect((await post(path, { action: 'acknowledge' })).status).toBe(404)
    await portreeve.raise(alice.id, 'two', { incident: LIST })
    await until(
      () => slack.calls.length,
      (count) => count === 2,
    )
    expect(slack.calls[1]?.body).not.toContain('/alerts/act/')
    await change({ actionLinks: true })
    expect((await open(path)).status).toBe(200)
    await portreeve.call(alice.token, 'DELETE', `alerts/channels/${channelId}`)
    expect((await post(path, { action: 'acknowledge' })).status).toBe(404)
    expect(await incident()).toMatchObject(untouched)
  })
})
