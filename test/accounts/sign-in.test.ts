import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { MAX_SESSIONS } from '../../src/accounts/module.ts'
import { cookieOf, startAccounts, type Person, type AccountsTest } from './module.ts'

const SIGN_IN = '/api/auth/sign-in/email'
const SIGN_UP = '/api/auth/sign-up/email'

let database: FreshDatabase
let portreeve: AccountsTest
let alice: Person
/** Instances of one test with other settings. */
const others: AccountsTest[] = []

async function open(env: Record<string, string> = {}): Promise<AccountsTest> {
  const opened = await startAccounts(database.url, env)
  others.push(opened)
  return opened
}

beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startAccounts(database.url)
})

beforeEach(async () => {
  await portreeve.removeEverybody()
  alice = await portreeve.addPerson('Alice', { plan: 'pro' })
})

afterEach(async () => {
  for (const each of others.splice(0)) await each.stop()
})

afterAll(async () => {
  await portreeve.stop()
  await database.drop()
})

const credentials = ({ email, password }: Person) => ({ email, password })

describe('signing in', () => {
  it('sets a cookie that scripts cannot read and other sites do not send', async () => {
    const answer = await portreeve.request(SIGN_IN, { body: credentials(alice) })
    expect(answer.status).toBe(200)
    const [line = ''] = answer.headers.getSetCookie()
    expect(line).toMatch(/^portreeve\.session_token=/)
    expect(line).toMatch(/; HttpOnly/)
    expect(line).toMatch(/; SameSite=Lax/)
    expect(line).not.toMatch(/; Secure/)
    const me = await portreeve.request('/api/v1/account', { cookie: cookieOf(answer.headers) })
    expect(await me.json()).toEqual({
      success: true,
      data: {
        id: alice.id,
        email: 'alice@people.test',
        name: 'Alice',
        plan: 'pro',
        admin: false,
        workspace: { id: alice.id, name: 'Alice' },
        role: 'owner',
        via: 'session',
      },
    })
  })

  it('sets a Secure cookie where the service is reached by HTTPS', async () => {
    const secure = await open({ BASE_URL: 'https://portreeve.test' })
    const headers = { origin: 'https://portreeve.test' }
    const answer = await secure.request(SIGN_IN, { body: credentials(alice), headers })
    const [line = ''] = answer.headers.getSetCookie()
    expect(line).toMatch(/^__Host-portreeve\.session_token=(?=.*; Path=\/;)(?!.*Domain=).*; Secure/)
    const me = await secure.request('/api/v1/account', { cookie: cookieOf(answer.headers) })
    expect(me.status).toBe(200)
  })

  it('creates a new session each time, and ignores one sent by the client (session fixation)', async () => {
    const brought = 'portreeve.session_token=chosen-by-somebody-else.c2lnbmF0dXJl'
    const answer = await portreeve.request(SIGN_IN, { body: credentials(alice), cookie: brought })
    const first = cookieOf(answer.headers)
    expect(first).not.toContain('chosen-by-somebody-else')
    expect(first).not.toBe(await portreeve.signIn(alice))
    expect((await portreeve.request('/api/v1/account', { cookie: brought })).status).toBe(401)
  })

  it('accepts the email in any case, and only the correct password', async () => {
    const upper = await portreeve.request(SIGN_IN, {
      body: { email: 'ALICE@People.Test', password: alice.password },
    })
    expect(upper.status).toBe(200)
    const wrong = await portreeve.request(SIGN_IN, {
      body: { email: alice.email, password: 'not her password' },
    })
    expect(wrong.status).toBe(401)
    expect(wrong.headers.getSetCookie()).toEqual([])
    const injected = await portreeve.request(SIGN_IN, {
      body: { email: alice.email, password: "' or '1'='1' -- " },
    })
    expect(injected.status).toBe(401)
  })

  it('responds the same to a wrong password and an unknown email', async () => {
    const wrong = await portreeve.request(SIGN_IN, {
      body: { email: alice.email, password: 'not her password' },
    })
    const unknown = await portreeve.request(SIGN_IN, {
      body: { email: 'nobody@people.test', password: 'not her password' },
    })
    expect([unknown.status, await unknown.json()]).toEqual([wrong.status, await wrong.json()])
  })

  it('ends at once on sign-out', async () => {
    const cookie = await portreeve.signIn(alice)
    expect((await portreeve.request('/api/auth/sign-out', { cookie, method: 'POST' })).status).toBe(
      200,
    )
    expect((await portreeve.request('/api/v1/account', { cookie })).status).toBe(401)
  })

  it.each([
    ['GET', '/get-session', 200],
    ['GET', '/list-sessions', 401],
    ['POST', '/revoke-other-sessions', 401],
    ['POST', '/update-user', 401],
    ['POST', '/change-password', 401],
    ['POST', '/two-factor/enable', 401],
    ['POST', '/two-factor/verify-totp', 401],
  ])(
    'keeps the cookie of an ended session, which a new one may have replaced: %s %s',
    async (method, path, status) => {
      const cookie = await portreeve.signIn(alice)
      await portreeve.request('/api/auth/sign-out', { cookie, method: 'POST' })
      const body = {
        currentPassword: 'x',
        newPassword: 'a new password',
        code: '123456',
        password: 'x',
      }
      const answer = await portreeve.request(`/api/auth${path}`, {
        cookie,
        method,
        ...(method === 'POST' && { body }),
      })
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([status, []])
    },
  )

  it('is rejected from a page of another site', async () => {
    const headers = { origin: 'https://elsewhere.test' }
    const signIn = await portreeve.request(SIGN_IN, { body: credentials(alice), headers })
    expect([signIn.status, await signIn.json()]).toEqual([
      403,
      { code: 'INVALID_ORIGIN', message: expect.stringContaining('set BASE_URL to the address') },
    ])
    const cookie = await portreeve.signIn(alice)
    const signOut = await portreeve.request('/api/auth/sign-out', {
      cookie,
      headers,
      method: 'POST',
    })
    expect(signOut.status).toBe(403)
    expect((await portreeve.request('/api/v1/account', { cookie })).status).toBe(200)
  })

  it('works for programs, which send no origin', async () => {
    const ask = (path: string, headers = {}) =>
      fetch(new URL(path, portreeve.url), {
        method: 'POST',
        body: JSON.stringify(path === SIGN_IN ? credentials(alice) : {}),
        headers: { 'content-type': 'application/json', ...headers },
      })
    const [first = ''] = (await ask(SIGN_IN)).headers.getSetCookie()
    const cookie = first.split(';')[0] as string
    expect((await ask(SIGN_IN, { cookie })).status).toBe(200)
    expect(
      (await ask('/api/auth/sign-out', { cookie, referer: 'https://elsewhere.test/' })).status,
    ).toBe(403)
    expect((await ask('/api/auth/sign-out', { cookie })).status).toBe(200)
    expect((await portreeve.request('/api/v1/account', { cookie })).status).toBe(401)
  })

  it('works under every loopback name where the service is at localhost', async () => {
    const local = await open({ BASE_URL: 'http://localhost:8080' })
    const from = (origin: string) =>
      local.request(SIGN_IN, { body: credentials(alice), headers: { origin } })
    expect((await from('http://127.0.0.1:8080')).status).toBe(200)
    expect((await from('http://127.0.0.1:8081')).status).toBe(403)
  })
})

const guess = (where: AccountsTest, headers = {}, email = alice.email) =>
  where.request(SIGN_IN, { body: { email, password: 'a guessed password' }, headers })

describe('guessing passwords', () => {
  it('gets 429 with the seconds to wait', async () => {
    for (let i = 0; i < 10; i++) expect((await guess(portreeve)).status).toBe(401)
    const refused = await guess(portreeve)
    expect(refused.status).toBe(429)
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(30)
  })

  it('is counted over all instances', async () => {
    const other = await open()
    for (let i = 0; i < 10; i++)
      expect((await guess(i % 2 === 0 ? portreeve : other)).status).toBe(401)
    expect((await guess(other)).status).toBe(429)
  })

  it('is counted for the real client address, whatever the request claims', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 11; i++) {
      const claimed = {
        'x-forwarded-for': `198.51.100.${i}`,
        'x-portreeve-client': `198.51.100.${i}`,
      }
      statuses.push((await guess(portreeve, claimed)).status)
    }
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429])
  })

  it('is counted separately for each client of a trusted proxy', async () => {
    const behind = await open({ TRUSTED_PROXIES: '127.0.0.0/8' })
    const from = async (address: string, i: number) =>
      (await guess(behind, { 'x-forwarded-for': address }, `person${i}@people.test`)).status
    for (let i = 0; i < 10; i++) expect(await from('198.51.100.1', i)).toBe(401)
    expect(await from('198.51.100.1', 10)).toBe(429)
    expect(await from('198.51.100.2', 10)).toBe(401)
  })
})

describe('signing up', () => {
  const body = { email: 'Dora@People.Test', password: 'a long enough password', name: 'Dora' }

  it('is closed by default', async () => {
    expect((await portreeve.request(SIGN_UP, { body })).status).toBe(400)
    expect((await database.db.selectFrom('account').select('email').execute()).length).toBe(1)
  })

  it('creates an ordinary account, whatever plan and role the request names', async () => {
    const opened = await open({ SIGNUP: 'open', DEFAULT_PLAN: 'starter' })
    const answer = await opened.request(SIGN_UP, {
      body: { ...body, plan: 'enterprise', admin: true, emailVerified: true },
    })
    expect(answer.status).toBe(200)
    const { email, password } = body
    const signedIn = await opened.request(SIGN_IN, { body: { email, password } })
    const me = await opened.request('/api/v1/account', { cookie: cookieOf(signedIn.headers) })
    expect(await me.json()).toMatchObject({
      data: { email: 'dora@people.test', plan: 'starter', admin: false },
    })
  })

  it('is closed until the first account exists', async () => {
    await database.db.deleteFrom('account').execute()
    const opened = await open({ SIGNUP: 'open' })
    const answer = await opened.request(SIGN_UP, { body })
    expect(answer.status).toBe(403)
    expect(await opened.findSetupLink()).not.toBeNull()
  })

  it('rejects short and common passwords, and names that are not plain text', async () => {
    const opened = await open({ SIGNUP: 'open' })
    const status = async (change: object) =>
      (await opened.request(SIGN_UP, { body: { ...body, ...change } })).status
    expect(await status({ password: 'too short' })).toBe(400)
    expect(await status({ name: 'a\u0000b' })).toBe(400)
    expect(await status({ password: 'Qwerty12345' })).toBe(400)
    expect(await status({ email: 'dora' })).toBe(400)
    expect(await status({ password: 1234567890 })).toBe(400)
  })
})

describe('the own account', () => {
  it('can change its name, but neither plan nor role', async () => {
    const cookie = await portreeve.signIn(alice)
    const update = (body: object) => portreeve.request('/api/auth/update-user', { cookie, body })
    expect((await update({ name: 'Alice Żółć 🚢' })).status).toBe(200)
    expect((await update({ name: 'Alice', admin: true })).status).toBe(400)
    expect((await update({ name: 'Alice', plan: 'enterprise' })).status).toBe(400)
    expect((await update({ name: 'a\u0000b' })).status).toBe(400)
    expect((await update({ name: { toString: 'x' } })).status).toBe(400)
    const me = await portreeve.request('/api/v1/account', { cookie })
    expect(await me.json()).toMatchObject({
      data: { name: 'Alice Żółć 🚢', plan: 'pro', admin: false },
    })
  })

  it('is known by its cookie for shares while the session lasts, and extends it once a day', async () => {
    const cookie = await portreeve.signIn(alice)
    const current = () => portreeve.request('/api/auth/get-session', { cookie })
    expect(await (await portreeve.request('/api/auth/get-session')).json()).toBeNull()
    expect(portreeve.auth.ownerOf(cookie)).toBeUndefined()
    const fresh = await current()
    expect(await fresh.json()).toMatchObject({ user: { id: alice.id, email: alice.email } })
    expect(fresh.headers.getSetCookie()).toEqual([])
    expect(portreeve.auth.ownerOf(`a=b; ${cookie}`)).toBe(alice.id)
    await database.pool.query(`update session set expires_at = expires_at - interval '2 days'`)
    const extended = await current()
    expect(cookieOf(extended.headers)).toBe(cookie)
    const { session } = (await extended.json()) as { session: { expiresAt: string } }
    expect(Date.parse(session.expiresAt) - Date.now()).toBeGreaterThan(6.9 * 86_400_000)
    await database.pool.query('delete from session')
    expect(await (await current()).json()).toBeNull()
    expect(portreeve.auth.ownerOf(cookie)).toBeUndefined()
  })

  it('has up to 100 sessions: the one that was not used longest ends', async () => {
    const { rows } = await database.pool.query<{ id: string }>(
      `insert into session (account_id, token, expires_at, updated_at)
       select $1, 'old ' || n, now() + interval '1 day', now() - make_interval(mins => n)
       from generate_series(1, 120) as n returning id`,
      [alice.id],
    )
    expect(rows).toHaveLength(120)
    const cookie = await portreeve.signIn(alice)
    const list = await portreeve.request('/api/auth/list-sessions', { cookie })
    const sessions = (await list.json()) as { token: string }[]
    expect(sessions).toHaveLength(MAX_SESSIONS)
    const kept = sessions.map(({ token }) => token).filter((token) => token.startsWith('old '))
    expect(kept).toContain('old 99')
    expect(kept).not.toContain('old 100')
  })

  it('can change its password, which ends the other sessions', async () => {
    const [here, elsewhere] = [await portreeve.signIn(alice), await portreeve.signIn(alice)]
    const body = {
      currentPassword: alice.password,
      newPassword: 'another long password',
      revokeOtherSessions: true,
    }
    const answer = await portreeve.request('/api/auth/change-password', { cookie: here, body })
    expect(answer.status).toBe(200)
    expect((await portreeve.request('/api/v1/account', { cookie: elsewhere })).status).toBe(401)
    expect(
      (await portreeve.request('/api/v1/account', { cookie: cookieOf(answer.headers) })).status,
    ).toBe(200)
    expect(await portreeve.signIn({ ...alice, password: body.newPassword })).toContain(
      'portreeve.session_token=',
    )
  })

  it('stays signed in when a request with the replaced session is answered last', async () => {
    const before = await portreeve.signIn(alice)
    const body = {
      currentPassword: alice.password,
      newPassword: 'another long password',
      revokeOtherSessions: true,
    }
    const changed = await portreeve.request('/api/auth/change-password', { cookie: before, body })
    expect(cookieOf(changed.headers)).not.toBe(before)
    const late = await portreeve.request('/api/auth/get-session', { cookie: before })
    expect([await late.json(), late.headers.getSetCookie()]).toEqual([null, []])
  })
})

const post = (body: string, type: string) =>
  fetch(new URL(SIGN_IN, portreeve.url), {
    method: 'POST',
    body,
    headers: { 'content-type': type },
  })

describe('the sign-in endpoints', () => {
  it('are only those that are exposed', async () => {
    for (const path of [
      '/api/auth/sign-in/social',
      '/api/auth/delete-user',
      '/api/auth/request-password-reset',
      '/api/auth/ok',
    ]) {
      expect([path, (await portreeve.request(path, { body: {} })).status]).toEqual([path, 404])
    }
  })

  it('ignore the origin of an absolute request target and the Host header', async () => {
    const { hostname, port } = new URL(portreeve.url)
    const socket = connect(Number(port), hostname)
    const head = [
      'POST http://elsewhere.test/api/auth/sign-in/email HTTP/1.1',
      'Host: elsewhere.test',
      'Connection: close',
    ]
    const body = JSON.stringify(credentials(alice))
    const more = [
      'Origin: http://elsewhere.test',
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]
    socket.write(`${[...head, ...more].join('\r\n')}\r\n\r\n${body}`)
    expect(await text(socket)).toMatch(/^HTTP\/1.1 40[34] /)
  })

  it('read no more than 64 KiB', async () => {
    const answer = await portreeve.request(SIGN_IN, {
      body: { ...credentials(alice), padding: 'x'.repeat(70_000) },
    })
    expect(answer.status).toBe(413)
  })

  it('reject bodies that are not JSON', async () => {
    expect((await post('{"email":', 'application/json')).status).toBe(400)
    expect((await post('', 'application/json')).status).toBe(400)
    expect((await post('<xml/>', 'application/xml')).status).toBe(415)
  })
})
