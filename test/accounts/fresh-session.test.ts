import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { cookieOf, startAccounts, type Person, type AccountsTest } from './module.ts'

let database: FreshDatabase
let portreeve: AccountsTest
let alice: Person
let bob: Person
let cookie: string

beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startAccounts(database.url)
})

beforeEach(async () => {
  await portreeve.removeEverybody()
  alice = await portreeve.addPerson('Alice', { admin: true })
  bob = await portreeve.addPerson('Bob')
  cookie = await portreeve.signIn(alice)
})

afterAll(async () => {
  await portreeve.stop()
  await database.drop()
})

const dora = { email: 'dora@people.test', password: 'the password of Dora', admin: true }

type By = { token: string } | { cookie: string }

/** Requests that need a recent sign-in. */
const acts: [string, (by: By) => Promise<Response>][] = [
  ['make an administrator', (by) => portreeve.request('/api/v1/accounts', { ...by, body: dora })],
  [
    'promote',
    (by) =>
      portreeve.request(`/api/v1/accounts/${bob.id}`, {
        ...by,
        method: 'PATCH',
        body: { admin: true },
      }),
  ],
  [
    'demote',
    (by) =>
      portreeve.request(`/api/v1/accounts/${alice.id}`, {
        ...by,
        method: 'PATCH',
        body: { admin: false },
      }),
  ],
  ['delete', (by) => portreeve.request(`/api/v1/accounts/${bob.id}`, { ...by, method: 'DELETE' })],
  ['make a token', (by) => portreeve.request('/api/v1/tokens', { ...by, body: {} })],
  ['export', (by) => portreeve.request('/api/v1/account/export', by)],
]

const reauthenticate = (password: string, as = cookie) =>
  portreeve.request('/api/v1/account/reauthenticate', { cookie: as, body: { password } })

/** Moves all sign-ins a number of minutes into the past. */
const wait = (minutes: number) =>
  database.db
    .updateTable('session')
    .set({ authenticatedAt: new Date(Date.now() - minutes * 60_000) })
    .execute()

async function everything(): Promise<unknown> {
  const accounts = await database.db
    .selectFrom('account')
    .select(['email', 'admin', 'plan'])
    .orderBy('id')
    .execute()
  const tokens = await database.db.selectFrom('apiToken').select('id').orderBy('id').execute()
  return { accounts, tokens }
}

describe('actions on accounts', () => {
  it('reject an administrator’s API token', async () => {
    const before = await everything()
    for (const [act, send] of acts) {
      const answer = await send({ token: alice.token })
      expect([act, answer.status, await answer.json()]).toMatchObject([
        act,
        403,
        { code: 'forbidden' },
      ])
    }
    expect(await everything()).toEqual(before)
  })

  it('need the password again after ten minutes, by the code `reauthenticate`', async () => {
    await wait(10)
    const before = await everything()
    for (const [act, send] of acts) {
      const answer = await send({ cookie })
      expect([act, answer.status, await answer.json()]).toMatchObject([
        act,
        403,
        { code: 'reauthenticate' },
      ])
    }
    expect(await everything()).toEqual(before)
  })

  it('work in a session that is nine minutes old', async () => {
    await wait(9)
    const [make] = acts
    expect((await make?.[1]({ cookie }))?.status).toBe(201)
  })

  it('work again in the same session after the password was confirmed', async () => {
    await wait(60)
    const mayAct = () => portreeve.request('/api/v1/account/reauthenticate', { cookie })
    expect((await mayAct()).status).toBe(403)
    expect((await reauthenticate('not the password')).status).toBe(403)
    expect((await mayAct()).status).toBe(403)
    expect((await reauthenticate(alice.password)).status).toBe(200)
    expect((await mayAct()).status).toBe(200)
    for (const [act, send] of acts.filter(([name]) => name !== 'demote')) {
      expect([act, (await send({ cookie })).ok]).toEqual([act, true])
    }
  })

  it('stay blocked in other sessions when one is confirmed', async () => {
    const elsewhere = await portreeve.signIn(alice)
    await wait(60)
    expect((await reauthenticate(alice.password)).status).toBe(200)
    const answer = await portreeve.request('/api/v1/account/reauthenticate', { cookie: elsewhere })
    expect(await answer.json()).toMatchObject({ code: 'reauthenticate' })
  })

  it('work after a sign-in, and stay blocked when an old session is only used', async () => {
    await wait(60)
    await portreeve.request('/api/auth/get-session', { cookie })
    await portreeve.request('/api/auth/update-user', { cookie, body: { name: 'Alice B' } })
    expect((await portreeve.request('/api/v1/account/reauthenticate', { cookie })).status).toBe(403)
    const { email, password } = alice
    const again = cookieOf(
      (await portreeve.request('/api/auth/sign-in/email', { body: { email, password } })).headers,
    )
    expect(
      (await portreeve.request('/api/v1/account/reauthenticate', { cookie: again })).status,
    ).toBe(200)
  })

  it('leave reading and revoking tokens to an API token', async () => {
    await wait(60)
    const { token } = alice
    expect((await portreeve.request('/api/v1/accounts', { token })).status).toBe(200)
    expect((await portreeve.request('/api/v1/accounts', { cookie })).status).toBe(200)
    const [own] = await database.db
      .selectFrom('apiToken')
      .select('id')
      .where('accountId', '=', alice.id)
      .execute()
    expect(
      (await portreeve.request(`/api/v1/tokens/${own?.id}`, { token, method: 'DELETE' })).status,
    ).toBe(200)
  })

  it('delete the account by the password in the request, in a session of any age', async () => {
    const his = await portreeve.signIn(bob)
    await wait(60)
    const erase = (password: string) =>
      portreeve.request('/api/v1/account/erase', { cookie: his, body: { password } })
    expect(await (await erase('not the password')).json()).toMatchObject({
      details: [{ path: 'password' }],
    })
    expect((await erase(bob.password)).status).toBe(200)
  })

  it('cannot be confirmed by a token or without a session', async () => {
    const body = { password: alice.password }
    const url = '/api/v1/account/reauthenticate'
    expect((await portreeve.request(url, { token: alice.token, body })).status).toBe(403)
    expect((await portreeve.request(url, { body })).status).toBe(401)
    const headers = { origin: 'https://elsewhere.test' }
    expect((await portreeve.request(url, { cookie, body, headers })).status).toBe(403)
  })
})
