import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService, type Person } from '../service.ts'
import { browserOf } from './sessions.ts'

type Entry = {
  actorId: string | null
  actorEmail: string
  what: string
  route: string
  details: Record<string, unknown>
}

let portreeve: TestService
let alice: Person
let bob: Person
let charlie: Person

beforeAll(async () => {
  portreeve = await startTestService()
  alice = await portreeve.addPerson('Alice', { admin: true })
  bob = await portreeve.addPerson('Bob', { admin: true })
  charlie = await portreeve.addPerson('Charlie')
})
afterAll(() => portreeve.stop())

/** Each signs in once, because changes of accounts need a session. */
const browsers = new Map<string, ReturnType<typeof browserOf>>()
async function send(
  path: string,
  method: string,
  body?: object,
  person = alice,
): Promise<Response> {
  const browser = browsers.get(person.id) ?? browserOf(portreeve, person)
  browsers.set(person.id, browser)
  return (await browser)(path, method, body)
}

async function entries({ token } = alice): Promise<Entry[]> {
  const answer = await portreeve.request('/api/v1/audit', { token })
  return ((await answer.json()) as { data: { entries: Entry[] } }).data.entries
}

describe('the audit log', () => {
  it('records actions with their fields, without passwords', async () => {
    const dave = { email: 'dave@people.test', password: 'the password of Dave', plan: 'pro' }
    const made = await send('/api/v1/accounts', 'POST', dave)
    const { id } = ((await made.json()) as { data: { id: string } }).data
    await send(`/api/v1/accounts/${id}`, 'PATCH', { plan: 'business' })
    await send(`/api/v1/accounts/${id}`, 'DELETE')
    const [removed, changed, created] = await entries()
    expect(created).toMatchObject({
      actorId: alice.id,
      actorEmail: alice.email,
      what: 'Create an account',
      route: 'POST /api/v1/accounts',
      details: { email: dave.email, plan: 'pro' },
    })
    expect(changed).toMatchObject({
      route: 'PATCH /api/v1/accounts/:id',
      details: { account: dave.email, id, plan: 'business' },
    })
    expect(removed).toMatchObject({
      route: 'DELETE /api/v1/accounts/:id',
      details: { account: dave.email, id },
    })
    expect(JSON.stringify(await entries())).not.toContain(dave.password)
  })

  it('is searched by actor, action and account', async () => {
    const erin = { email: 'erin@people.test', password: 'the password of Erin', plan: 'free' }
    const made = await send('/api/v1/accounts', 'POST', erin, bob)
    const { id } = ((await made.json()) as { data: { id: string } }).data
    await send(`/api/v1/accounts/${id}`, 'DELETE')
    const found = async (q: string) => {
      const answer = await portreeve.request(`/api/v1/audit?q=${encodeURIComponent(q)}`, {
        token: alice.token,
      })
      const { data } = (await answer.json()) as {
        data: { entries: Entry[]; pagination: { total: number } }
      }
      expect(data.pagination.total).toBe(data.entries.length)
      return data.entries.map(({ route }) => route.split(' ')[0])
    }
    expect(await found('ERIN@')).toEqual(['DELETE', 'POST'])
    expect(await found(bob.email)).toEqual(['POST'])
    expect(await found('100% _ nobody')).toEqual([])
    const answer = await portreeve.request(`/api/v1/audit?actor=${encodeURIComponent(bob.email)}`, {
      token: alice.token,
    })
    const { data } = (await answer.json()) as { data: { entries: Entry[] } }
    expect(new Set(data.entries.map(({ actorEmail }) => actorEmail))).toEqual(new Set([bob.email]))
  })

  it('records actions in other modules too', async () => {
    await send('/api/v1/abuse/whitelist', 'POST', { cidr: '8.8.8.0/24', label: 'ours' })
    expect((await entries())[0]).toMatchObject({
      route: 'POST /api/v1/abuse/whitelist',
      details: { cidr: '8.8.8.0/24', label: 'ours' },
    })
  })

  it('does not record rejected requests', async () => {
    const before = await entries()
    await send('/api/v1/accounts', 'POST', { email: 'no address', password: 'x' })
    await send('/api/v1/accounts/019a9d2e-90aa-7d0c-b1f2-6f0a4c2e7d42', 'DELETE')
    await send(
      '/api/v1/accounts',
      'POST',
      { email: 'x@people.test', password: 'long enough' },
      charlie,
    )
    expect(await entries()).toEqual(before)
  })

  it('keeps entries after the administrator is deleted', async () => {
    await send(
      '/api/v1/accounts',
      'POST',
      { email: 'eve@people.test', password: 'the password of Eve' },
      bob,
    )
    await send(`/api/v1/accounts/${bob.id}`, 'DELETE')
    const ofBob = (await entries()).find(({ actorEmail }) => actorEmail === bob.email)
    expect(ofBob).toMatchObject({ actorId: null, details: { email: 'eve@people.test' } })
  })

  it('is visible to administrators only', async () => {
    expect((await portreeve.request('/api/v1/audit', charlie)).status).toBe(403)
    expect((await portreeve.request('/api/v1/audit')).status).toBe(401)
  })
})
