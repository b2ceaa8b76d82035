import { assert, asyncProperty, constantFrom, stringMatching, tuple } from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { startAccounts, type Person, type AccountsTest } from './module.ts'

type Account = {
  id: string
  email: string
  name: string
  plan: string
  admin: boolean
  createdAt: string
}

let database: FreshDatabase
let portreeve: AccountsTest
let alice: Person
let bob: Person
let charlie: Person

beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startAccounts(database.url, { DEFAULT_PLAN: 'starter' })
})

beforeEach(async () => {
  await portreeve.removeEverybody()
  alice = await portreeve.addPerson('Alice', { admin: true, plan: 'enterprise' })
  bob = await portreeve.addPerson('Bob')
  charlie = await portreeve.addPerson('Charlie')
})

afterAll(async () => {
  await portreeve.stop()
  await database.drop()
})

/** Each signs in once, because changes of accounts need a session. */
const cookies = new Map<string, Promise<string>>()
function cookieOf(person: Person): Promise<string> {
  const cookie = cookies.get(person.id) ?? portreeve.signIn(person)
  cookies.set(person.id, cookie)
  return cookie
}

const change = async (id: string, body: object, by = alice) =>
  portreeve.request(`/api/v1/accounts/${id}`, { cookie: await cookieOf(by), method: 'PATCH', body })
const remove = async (id: string, by = alice) =>
  portreeve.request(`/api/v1/accounts/${id}`, { cookie: await cookieOf(by), method: 'DELETE' })
const create = async (body: object, by = alice) =>
  portreeve.request('/api/v1/accounts', { cookie: await cookieOf(by), body })
const me = async (token: string) => (await portreeve.request('/api/v1/account', { token })).json()

describe('the accounts', () => {
  it('are listed for administrators, page by page', async () => {
    const answer = await portreeve.request('/api/v1/accounts?page=2&limit=2', {
      token: alice.token,
    })
    const { data } = (await answer.json()) as { data: { accounts: Account[]; pagination: object } }
    expect(data.pagination).toEqual({ page: 2, total: 3, totalPages: 2 })
    const { createdAt, ...rest } = data.accounts[0] as Account
    expect(data.accounts).toHaveLength(1)
    expect(rest).toEqual({
      id: charlie.id,
      email: 'charlie@people.test',
      name: 'Charlie',
      plan: 'free',
      admin: false,
      disabledAt: null,
    })
    expect(Date.parse(createdAt)).not.toBeNaN()
  })

  it('reject page 0 and a limit of 101', async () => {
    for (const query of ['page=0', 'limit=0', 'limit=101', 'page=x']) {
      const answer = await portreeve.request(`/api/v1/accounts?${query}`, { token: alice.token })
      expect([query, answer.status]).toEqual([query, 400])
    }
  })

  it('are hidden from other accounts', async () => {
    const requests = (by: Person | null) => [
      portreeve.request('/api/v1/accounts', { token: by?.token ?? '' }),
      portreeve.request('/api/v1/accounts', {
        token: by?.token ?? '',
        body: { email: 'x@people.test', password: 'a long enough password' },
      }),
      portreeve.request(`/api/v1/accounts/${bob.id}`, {
        token: by?.token ?? '',
        method: 'PATCH',
        body: { plan: 'pro' },
      }),
      portreeve.request(`/api/v1/accounts/${bob.id}`, { token: by?.token ?? '', method: 'DELETE' }),
    ]
    for (const answer of await Promise.all(requests(charlie))) expect(answer.status).toBe(403)
    for (const answer of await Promise.all(requests(null))) expect(answer.status).toBe(401)
    expect(await me(bob.token)).toMatchObject({ data: { plan: 'free', admin: false } })
  })
})

describe('creating an account', () => {
  it('lets its owner sign in', async () => {
    const password = 'pässwörd 🔑 with spaces'
    const answer = await create({ email: 'Dora@People.Test', password, name: 'Dora Ñ' })
    const { data } = (await answer.json()) as { data: Account }
    expect([answer.status, data]).toMatchObject([
      201,
      { email: 'dora@people.test', name: 'Dora Ñ', plan: 'starter', admin: false },
    ])
    expect(Object.keys(data).toSorted()).toEqual([
      'admin',
      'createdAt',
      'disabledAt',
      'email',
      'id',
      'name',
      'plan',
    ])
    const cookie = await portreeve.signIn({ id: data.id, email: data.email, password, token: '' })
    expect((await portreeve.request('/api/v1/account', { cookie })).status).toBe(200)
  })

  it('rejects email addresses that the sign-in does not accept', async () => {
    const local = stringMatching(/^[a-zA-Z0-9._+'!#$%&*=?^`{|}~"@ -]{1,3}$/)
    const emails = tuple(
      local,
      stringMatching(/^[a-z0-9-]{1,3}$/),
      constantFrom('test', 'x', 'a1', 'xn--p1ai', ''),
    ).map(([name, label, top]) => `${name}@${label}.${top}`)
    const password = 'a long enough password'
    await assert(
      asyncProperty(emails, async (email) => {
        const made = (await create({ email, password })).status === 201
        if (made) await portreeve.signIn({ id: '', token: '', email, password })
      }),
      // A certainly valid value, because a random one may be invalid.
      { numRuns: 150, examples: [["o'hara+x@mail.test"]] },
    )
    const { length } = await database.db.selectFrom('account').select('id').execute()
    expect(length).toBeGreaterThan(3)
  })

  it('accepts plan and role from an administrator', async () => {
    const body = {
      email: 'dora@people.test',
      password: 'a long enough password',
      plan: 'business',
      admin: true,
    }
    expect(await (await create(body)).json()).toMatchObject({
      data: { plan: 'business', admin: true },
    })
  })

  it('rejects an email that is taken, ignoring case', async () => {
    const answer = await create({ email: 'BOB@people.test', password: 'a long enough password' })
    expect([answer.status, await answer.json()]).toMatchObject([409, { code: 'conflict' }])
  })

  it('names the invalid field', async () => {
    const good = { email: 'dora@people.test', password: 'a long enough password' }
    const wrong: [string, object][] = [
      ['email', { email: 'dora' }],
      ['email', { email: 'dörä@people.test' }],
      ['email', { email: "a!#$%'@people.test" }],
      ['email', { email: 'dora@people.test\u0000' }],
      ['email', { email: `${'x'.repeat(250)}@people.test` }],
      ['password', { password: 'nine char' }],
      ['password', { password: 'x'.repeat(129) }],
      ['password', { password: 1234567890 }],
      ['name', { name: 'a\u0000b' }],
      ['name', { name: 'x'.repeat(201) }],
      ['plan', { plan: 'platinum' }],
      ['admin', { admin: 'true' }],
    ]
    for (const [path, part] of wrong) {
      const answer = await create({ ...good, ...part })
      const { details } = (await answer.json()) as { details: { path: string }[] }
      expect([part, answer.status, details[0]?.path]).toEqual([part, 400, path])
    }
  })

  it('accepts names that look like code, as plain text', async () => {
    for (const [i, name] of [
      "Robert'); drop table account; --",
      '${7*7}',
      '<script>',
      '名前',
    ].entries()) {
      const answer = await create({
        email: `p${i}@people.test`,
        password: 'a long enough password',
        name,
      })
      expect(await answer.json()).toMatchObject({ data: { name } })
    }
    // It would turn around what follows it.
    const turned = {
      email: 'p@people.test',
      password: 'a long enough password',
      name: '\u202eevil',
    }
    expect((await create(turned)).status).toBe(400)
  })
})

describe('changing an account', () => {
  it('changes only the given fields', async () => {
    expect(await (await change(bob.id, { plan: 'pro' })).json()).toMatchObject({
      data: { name: 'Bob', plan: 'pro' },
    })
    const answer = await change(bob.id, {
      name: 'Robert',
      email: 'x@people.test',
      id: alice.id,
      createdAt: 0,
    })
    expect(await answer.json()).toMatchObject({
      data: { id: bob.id, email: 'bob@people.test', name: 'Robert', plan: 'pro' },
    })
    expect((await change(bob.id, {})).status).toBe(200)
  })

  it('takes effect at once for cached tokens', async () => {
    expect(await me(bob.token)).toMatchObject({ data: { plan: 'free' } })
    await change(bob.id, { plan: 'business', admin: true })
    await expect
      .poll(() => me(bob.token))
      .toMatchObject({ data: { plan: 'business', admin: true } })
  })

  it('leaves at least one administrator', async () => {
    const answer = await change(alice.id, { admin: false })
    expect([answer.status, await answer.json()]).toMatchObject([409, { code: 'conflict' }])
    await change(bob.id, { admin: true })
    expect((await change(alice.id, { admin: false })).status).toBe(200)
  })

  it('keeps one of two administrators who demote each other concurrently', async () => {
    await change(bob.id, { admin: true })
    await expect.poll(() => me(bob.token)).toMatchObject({ data: { admin: true } })
    const answers = await Promise.all([
      change(bob.id, { admin: false }, alice),
      change(alice.id, { admin: false }, bob),
    ])
    const administrators = await database.db
      .selectFrom('account')
      .select('id')
      .where('admin', '=', true)
      .execute()
    expect(administrators).toHaveLength(1)
    expect(answers.map(({ status }) => status)).toContain(200)
  })

  it('returns 404 for an unknown account', async () => {
    expect((await change('019a9d2e-7c3b-7f7e-8a51-3c1d9f0b6a11', { plan: 'pro' })).status).toBe(404)
    expect((await change('1', { plan: 'pro' })).status).toBe(404)
  })
})

describe('deleting an account', () => {
  it('ends its sessions and tokens', async () => {
    const cookie = await portreeve.signIn(bob)
    expect(await me(bob.token)).toMatchObject({ success: true })
    expect(await (await remove(bob.id)).json()).toEqual({ success: true })
    await expect.poll(() => me(bob.token)).toMatchObject({ code: 'unauthenticated' })
    expect((await portreeve.request('/api/v1/account', { cookie })).status).toBe(401)
    expect((await remove(bob.id)).status).toBe(404)
  })

  it('is rejected for the own account', async () => {
    const answer = await remove(alice.id)
    expect([answer.status, await answer.json()]).toMatchObject([409, { code: 'conflict' }])
  })

  it('keeps one of two administrators who delete each other concurrently', async () => {
    await change(bob.id, { admin: true })
    await expect.poll(() => me(bob.token)).toMatchObject({ data: { admin: true } })
    // Signed in beforehand, so that the requests overlap.
    await Promise.all([alice, bob].map(cookieOf))
    await Promise.all([remove(bob.id, alice), remove(alice.id, bob)])
    const administrators = await database.db
      .selectFrom('account')
      .select('id')
      .where('admin', '=', true)
      .execute()
    expect(administrators).toHaveLength(1)
  })
})
