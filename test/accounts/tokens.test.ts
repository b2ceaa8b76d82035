import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { ORIGIN, startAccounts, type Person, type AccountsTest } from './module.ts'

type Listed = {
  id: string
  label: string
  lastFour: string
  createdAt: string
  lastUsedAt: string | null
}

let database: FreshDatabase
let portreeve: AccountsTest
let alice: Person
let bob: Person
let charlie: Person

beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startAccounts(database.url)
  alice = await portreeve.addPerson('Alice')
  bob = await portreeve.addPerson('Bob')
  charlie = await portreeve.addPerson('Charlie')
})

afterAll(async () => {
  await portreeve.stop()
  await database.drop()
})

async function make(
  owner: Person,
  body: object = {},
): Promise<{ id: string; token: string; label: string }> {
  const answer = await portreeve.request('/api/v1/tokens', {
    cookie: await portreeve.signIn(owner),
    body,
  })
  expect(answer.status).toBe(201)
  return (await answer.json()) as { id: string; token: string; label: string }
}

async function list(credentials: { token?: string; cookie?: string }): Promise<Listed[]> {
  const answer = await portreeve.request('/api/v1/tokens', credentials)
  expect(answer.status).toBe(200)
  return ((await answer.json()) as { data: Listed[] }).data
}

const whoIs = async (token: string) =>
  (await portreeve.request('/api/v1/account', { token })).status

describe('creating a token', () => {
  it('returns it once, in its documented format', async () => {
    const answer = await portreeve.request('/api/v1/tokens', {
      cookie: await portreeve.signIn(alice),
      body: { label: 'laptop' },
    })
    const made = (await answer.json()) as Record<string, string>
    expect(Object.keys(made).toSorted()).toEqual([
      'createdAt',
      'expiresAt',
      'id',
      'label',
      'lastFour',
      'scopes',
      'success',
      'token',
    ])
    expect(made).toMatchObject({ success: true, label: 'laptop', scopes: null, expiresAt: null })
    expect(made['token']).toMatch(/^prv_[0-9A-Za-z]{46}$/)
    expect(made['createdAt']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(await whoIs(made['token'] ?? '')).toBe(200)
  })

  it('stores only a hash', async () => {
    const { token } = await make(alice)
    const { rows } = await database.pool.query('select * from api_token')
    expect(JSON.stringify(rows)).not.toContain(token.slice(4, -4))
    expect(JSON.stringify(await list({ token }))).not.toContain(token.slice(4, -4))
  })

  it('needs a session: a token cannot create tokens', async () => {
    const answer = await portreeve.request('/api/v1/tokens', { token: alice.token, body: {} })
    expect([answer.status, await answer.json()]).toMatchObject([
      403,
      { success: false, code: 'forbidden' },
    ])
  })

  it('needs the own origin, or a program with the cookie', async () => {
    const cookie = await portreeve.signIn(alice)
    const count = (await list({ cookie })).length
    const ask = (headers: Record<string, string>) =>
      fetch(new URL('/api/v1/tokens', portreeve.url), {
        method: 'POST',
        body: '{}',
        headers: { cookie, 'content-type': 'application/json', ...headers },
      })
    const strangers: Record<string, string>[] = [
      { origin: 'https://elsewhere.test' },
      { origin: 'null' },
      { referer: 'https://elsewhere.test/' },
      { 'sec-fetch-site': 'cross-site' },
    ]
    for (const headers of strangers) {
      const foreign = await ask(headers)
      expect([foreign.status, await foreign.json()]).toMatchObject([403, { code: 'forbidden' }])
    }
    expect(await list({ cookie })).toHaveLength(count)
    expect((await ask({})).status).toBe(201)
  })

  it('accepts labels in any script, but no control characters', async () => {
    const labels = ['Über-Rechner', '監視', '🚢 <b>&"\'', "'); drop table api_token; --", '']
    for (const label of labels) expect((await make(bob, { label })).label).toBe(label)
    expect((await list(bob)).map(({ label }) => label)).toEqual([...labels.toReversed(), 'tests'])
    for (const label of ['a\u0000b', 'a\nb', '\ud800', 'x'.repeat(101), 7, null]) {
      const answer = await portreeve.request('/api/v1/tokens', {
        cookie: await portreeve.signIn(bob),
        body: { label },
      })
      expect([label, answer.status]).toEqual([label, 400])
    }
  })

  it('stops at 100 tokens per workspace, also for concurrent requests', async () => {
    const dora = await portreeve.addPerson('Dora')
    const cookie = await portreeve.signIn(dora)
    for (let i = 1; i < 95; i++) await portreeve.request('/api/v1/tokens', { cookie, body: {} })
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => portreeve.request('/api/v1/tokens', { cookie, body: {} })),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      ...Array<number>(5).fill(201),
      ...Array<number>(5).fill(409),
    ])
    expect(await list(dora)).toHaveLength(100)
  })
})

describe('the list of tokens', () => {
  it('has the tokens of the account, newest first, with their last four characters', async () => {
    const { id, token } = await make(alice, { label: 'newest' })
    const [first] = await list({ cookie: await portreeve.signIn(alice) })
    const { createdAt, ...rest } = first ?? {}
    expect(rest).toEqual({
      id,
      label: 'newest',
      lastFour: token.slice(-4),
      scopes: null,
      expiresAt: null,
      lastUsedAt: null,
      createdBy: { accountId: alice.id, name: 'Alice', email: alice.email },
    })
    expect(Number.isNaN(Date.parse(createdAt ?? ''))).toBe(false)
  })

  it('has no tokens of other accounts', async () => {
    expect((await list(charlie)).map(({ label }) => label)).toEqual(['tests'])
  })

  it('needs authentication', async () => {
    const answer = await portreeve.request('/api/v1/tokens')
    expect([answer.status, await answer.json()]).toMatchObject([
      401,
      { success: false, code: 'unauthenticated' },
    ])
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/)
  })
})

const revoke = (id: string, by: Person) =>
  portreeve.request(`/api/v1/tokens/${id}`, { token: by.token, method: 'DELETE' })

describe('revoking a token', () => {
  it('takes effect at once, also for a cached token', async () => {
    const { id, token } = await make(alice)
    expect(await whoIs(token)).toBe(200)
    expect(await (await revoke(id, alice)).json()).toEqual({ success: true })
    await expect.poll(() => whoIs(token)).toBe(401)
    expect((await revoke(id, alice)).status).toBe(404)
  })

  it('returns 404 for a token of another account', async () => {
    const { id, token } = await make(alice)
    const answer = await revoke(id, charlie)
    expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'not_found' }])
    expect((await revoke(id, bob)).status).toBe(404)
    expect(await whoIs(token)).toBe(200)
  })

  it('works with a session from the own origin', async () => {
    const { id } = await make(alice)
    const cookie = await portreeve.signIn(alice)
    const from = (origin: string) =>
      portreeve.request(`/api/v1/tokens/${id}`, { cookie, method: 'DELETE', headers: { origin } })
    expect((await from('https://elsewhere.test')).status).toBe(403)
    expect((await from(ORIGIN)).status).toBe(200)
  })

  it('returns 404 for ids of the wrong form', async () => {
    for (const id of ['1', "' or true --", '%00', 'zzzzzzzz-zzzz-zzzz-zzzz-zzzzzzzzzzzz']) {
      expect([id, (await revoke(encodeURIComponent(id), alice)).status]).toEqual([id, 404])
    }
  })
})

describe('the current account', () => {
  it('is returned for a token and for a session', async () => {
    const about = {
      id: alice.id,
      email: 'alice@people.test',
      name: 'Alice',
      plan: 'free',
      admin: false,
      workspace: { id: alice.id, name: 'Alice' },
      role: 'owner',
    }
    const byToken = await portreeve.request('/api/v1/account', { token: alice.token })
    expect(await byToken.json()).toEqual({ success: true, data: { ...about, via: 'token' } })
    const bySession = await portreeve.request('/api/v1/account', {
      cookie: await portreeve.signIn(alice),
    })
    expect(await bySession.json()).toEqual({ success: true, data: { ...about, via: 'session' } })
  })
})
