import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { changeAccount, removeAccount } from '../../src/accounts/accounts.ts'
import { listTokens } from '../../src/accounts/tokens/api-tokens.sql.ts'
import { issueToken, revokeToken } from '../../src/accounts/tokens/api-tokens.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { execute } from '../servers/postgres.ts'
import { startAccounts, type Person, type AccountsTest } from './module.ts'

let database: FreshDatabase
let here: AccountsTest
let elsewhere: AccountsTest
let alice: Person
let charlie: Person

beforeAll(async () => {
  database = await freshDatabase()
  here = await startAccounts(database.url)
  elsewhere = await startAccounts(database.url)
})

beforeEach(async () => {
  await here.removeEverybody()
  alice = await here.addPerson('Alice', { plan: 'pro' })
  charlie = await here.addPerson('Charlie')
})

afterAll(async () => {
  await here.stop()
  await elsewhere.stop()
  await database.drop()
})

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

describe('a request', () => {
  it('is identified by its token, with any spelling of the scheme', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER ']) {
      const caller = await here.identify({ authorization: `${scheme} ${alice.token}` })
      expect(caller).toEqual({
        accountId: alice.id,
        email: alice.email,
        name: 'Alice',
        admin: false,
        workspaceId: alice.id,
        responsibleId: alice.id,
        role: 'owner',
        plan: 'pro',
        via: 'token',
        tokenId: expect.any(String),
        tokenLabel: 'tests',
        scopes: null,
        sessionId: null,
        authenticatedAt: null,
        signedInWith: null,
        lacksSecondFactor: false,
      })
    }
  })

  it('is anonymous with any other header', async () => {
    const { token } = alice
    const wrong = [
      '',
      token,
      'Bearer',
      'Bearer ',
      `Bearer${token}`,
      `Basic ${token}`,
      `Bearer ${token} ${token}`,
      `Bearer ${token}x`,
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token.toUpperCase()}`,
      `Bearer prv_${'A'.repeat(43)}`,
      `Bearer "${token}"`,
      `Bearer ' or true --`,
      `Bearer \u0000`,
    ]
    for (const authorization of wrong)
      expect([authorization, await here.identify({ authorization })]).toEqual([authorization, null])
  })

  it('is identified by the token when a session is sent as well, also when the token is invalid', async () => {
    const cookie = await here.signIn(charlie)
    expect(await here.identify({ cookie })).toMatchObject({ accountId: charlie.id, via: 'session' })
    expect(await here.identify({ cookie, ...bearer(alice.token) })).toMatchObject({
      accountId: alice.id,
      via: 'token',
    })
    expect(await here.identify({ cookie, authorization: 'Bearer prv_unknown' })).toBeNull()
  })

  it('is identified by the session behind a proxy with its own Authorization scheme', async () => {
    const cookie = await here.signIn(charlie)
    expect(await here.identify({ cookie, authorization: 'Basic YTpi' })).toMatchObject({
      accountId: charlie.id,
    })
    expect(await here.identify({ authorization: 'Basic YTpi' })).toBeNull()
  })

  it('is anonymous with a foreign or manipulated cookie', async () => {
    const cookie = await here.signIn(alice)
    expect(await here.identify({ cookie })).toMatchObject({ accountId: alice.id })
    const forged = cookie.replace(/=(.)/, (_, first: string) => `=${first === 'x' ? 'y' : 'x'}`)
    for (const wrong of [
      forged,
      cookie.slice(0, -5),
      'portreeve.session_token=',
      'other=1',
      'portreeve.session_token=%zz',
    ]) {
      expect([wrong, await here.identify({ cookie: wrong })]).toEqual([wrong, null])
    }
  })

  it('is anonymous when the session has expired', async () => {
    const cookie = await here.signIn(alice)
    await database.db
      .updateTable('session')
      .set({ expiresAt: new Date(Date.now() - 1000) })
      .execute()
    expect(await here.identify({ cookie })).toBeNull()
  })
})

/** A token of Alice's that the other instance has seen, and so remembers. */
async function rememberedToken(): Promise<{ id: string; token: string }> {
  const issued = await issueToken(here.db, { accountId: alice.id, workspaceId: alice.id })
  expect(await elsewhere.identify(bearer(issued.token))).toMatchObject({ plan: 'pro' })
  return issued
}

describe('a change in one instance', () => {
  it('reaches another instance at once: a revoked token', async () => {
    const { id, token } = await rememberedToken()
    await revokeToken(here.db, id)
    await expect.poll(() => elsewhere.identify(bearer(token))).toBeNull()
  })

  it('reaches another instance at once: a plan', async () => {
    const { token } = await rememberedToken()
    await changeAccount(here.db, alice.id, { plan: 'business' })
    await expect.poll(() => elsewhere.identify(bearer(token))).toMatchObject({ plan: 'business' })
  })

  it('reaches another instance at once: a name', async () => {
    const { token } = await rememberedToken()
    const cookie = await here.signIn(alice)
    await here.request('/api/auth/update-user', { cookie, body: { name: 'Alicia' } })
    await expect.poll(() => elsewhere.identify(bearer(token))).toMatchObject({ name: 'Alicia' })
  })

  it('reaches another instance at once: a deleted account', async () => {
    const { token } = await rememberedToken()
    await removeAccount(here.db, alice.id)
    await expect.poll(() => elsewhere.identify(bearer(token))).toBeNull()
  })

  it('reaches an instance that missed the notification, after it reconnects', async () => {
    const { id, token } = await rememberedToken()
    await database.db.deleteFrom('apiToken').where('id', '=', id).execute()
    expect(await elsewhere.identify(bearer(token))).not.toBeNull()
    await execute(
      database.url,
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'portreeve notifications'`,
    )
    await expect.poll(() => elsewhere.identify(bearer(token)), { timeout: 20_000 }).toBeNull()
  })
})

/** Renames a table until the test has finished. */
async function hideTable(table: string): Promise<void> {
  await database.pool.query(`alter table ${table} rename to elsewhere`)
  onTestFinished(
    async () => void (await database.pool.query(`alter table elsewhere rename to ${table}`)),
  )
}

describe('an unavailable database', () => {
  it('gives 503, not 401: sessions are unavailable, not unknown', async () => {
    const cookie = await here.signIn(alice)
    await hideTable('session')
    await expect(here.identify({ cookie })).rejects.toMatchObject({ code: 'unavailable' })
    const answer = await here.request('/api/v1/account', { cookie })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    expect((await here.request('/api/auth/get-session', { cookie })).status).toBe(503)
  })

  it('reveals no details in the response', async () => {
    await hideTable('auth_rate_limit')
    const answer = await here.request('/api/auth/sign-in/email', {
      body: { email: alice.email, password: alice.password },
    })
    const text = await answer.text()
    expect([answer.status, JSON.parse(text)]).toMatchObject([
      500,
      { success: false, code: 'internal' },
    ])
    expect(text).not.toContain('auth_rate_limit')
  })
})

describe('a cached token', () => {
  it('needs no query', async () => {
    expect(await here.identify(bearer(alice.token))).not.toBeNull()
    await hideTable('api_token')
    expect(await here.identify(bearer(alice.token))).toMatchObject({ accountId: alice.id })
  })

  it('is marked as used once for many requests, without delaying them', async () => {
    for (let i = 0; i < 50; i++) await here.identify(bearer(alice.token))
    const [before] = await listTokens(database.db, alice.id)
    expect(before?.lastUsedAt).toBeNull()
    const lastUse = async () => (await listTokens(database.db, alice.id))[0]?.lastUsedAt
    await expect.poll(lastUse).toBeInstanceOf(Date)
    expect((await listTokens(database.db, charlie.id))[0]?.lastUsedAt).toBeNull()
  })
})
