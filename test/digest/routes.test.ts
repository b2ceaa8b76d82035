import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unsubscribeToken } from '../../src/digest/unsubscribe/unsubscribe-token.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { SERVICE_KEY, startTestService, type Person, type TestService } from '../service.ts'
import type { ShownDigest } from './module.ts'

let sink: Sink
let portreeve: TestService
let alice: Person
let reader: Person
let charlie: Person
beforeAll(async () => {
  sink = await startSink()
  portreeve = await startTestService({ SMTP_URL: sink.url })
  alice = await portreeve.addPerson('Alice')
  reader = await portreeve.addMember(alice.id, 'Bob', 'read-only')
  charlie = await portreeve.addPerson('Charlie')
})
afterAll(async () => {
  await portreeve.stop()
  await sink.stop()
})

async function put(person: Person, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return portreeve.request('/api/v1/digest', {
    method: 'PUT',
    token: person.token,
    headers,
    body: JSON.stringify(body),
  })
}

async function shown({ token }: Person): Promise<ShownDigest> {
  const response = await portreeve.request('/api/v1/digest', { token })
  return ((await response.json()) as { data: ShownDigest }).data
}

describe('the settings of a digest', () => {
  it('belong to each member alone, and a read-only member has them, too', async () => {
    const berlin = { frequency: 'weekly', weekday: 3, hour: 7, timeZone: 'Europe/Berlin' }
    expect((await put(reader, berlin)).status).toBe(200)
    expect(await shown(reader)).toMatchObject({ ...berlin, email: 'bob@people.test' })
    expect((await shown(alice)).frequency).toBe('off')
    expect((await shown(charlie)).frequency).toBe('off')
  })
  it.each([
    { frequency: 'hourly' },
    { frequency: 'daily', timeZone: 'Mars/Olympus' },
    { frequency: 'daily', hour: 24 },
    { frequency: 'weekly', weekday: 0 },
  ])('reject %j', async (body) => {
    expect((await put(alice, body)).status).toBe(400)
  })
  it('send a digest at once', async () => {
    const response = await portreeve.request('/api/v1/digest/test', {
      method: 'POST',
      token: alice.token,
    })
    expect(response.status).toBe(200)
    expect(sink.mails.at(-1)).toMatchObject({ to: [{ address: 'alice@people.test' }] })
  })
})

describe('the link to unsubscribe', () => {
  const path = (person: Person) =>
    `/digest/unsubscribe/${unsubscribeToken.create(SERVICE_KEY, { workspaceId: person.id, accountId: person.id })}`
  const oneClick = (url: string) =>
    portreeve.request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    })

  it('changes nothing when it is opened', async () => {
    await put(alice, { frequency: 'daily' })
    const response = await portreeve.request(path(alice))
    expect(response.status).toBe(200)
    expect(await response.text()).toContain('<button type="submit">Unsubscribe</button>')
    expect((await shown(alice)).frequency).toBe('daily')
  })
  it('unsubscribes by POST without a login, any number of times, and only its member', async () => {
    await put(charlie, { frequency: 'daily' })
    for (let count = 0; count < 2; count++) expect((await oneClick(path(alice))).status).toBe(200)
    expect((await shown(alice)).frequency).toBe('off')
    expect((await shown(charlie)).frequency).toBe('daily')
  })
  it('is a clear page when it is wrong', async () => {
    const token = path(charlie)
    const wrong = `${token.slice(0, -4)}AAAA`
    const response = await oneClick(wrong)
    expect(response.status).toBe(404)
    expect(await response.text()).toContain('This link doesn’t work')
    expect((await shown(charlie)).frequency).toBe('daily')
  })
  it('works after a rotation of the key, and with no other key', () => {
    const member = { workspaceId: alice.id, accountId: charlie.id }
    const token = unsubscribeToken.create('old key', member)
    expect(unsubscribeToken.read(['new key', 'old key'], token)).toMatchObject(member)
    expect(unsubscribeToken.read(['new key'], token)).toBeNull()
  })
})
