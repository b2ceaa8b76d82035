import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { resetSecondFactors, setDisabled } from '../../src/accounts/accounts.ts'
import { TWO_FACTOR_COLUMNS } from '../../src/accounts/two-factor/auth-encryption.ts'
import { reencryptAll } from '../../src/store/key-rotation.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { codeOf } from '../servers/authenticator.ts'
import { cookieOf, SECRET_KEY, startAccounts, type AccountsTest, type Person } from './module.ts'

let database: FreshDatabase
let portreeve: AccountsTest

const SIGN_IN = '/api/auth/sign-in/email'
const VERIFY = '/api/auth/two-factor/verify-totp'

beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startAccounts(database.url)
})

// All requests of these tests come from one address.
beforeEach(() => portreeve.db.deleteFrom('authRateLimit').execute())

afterAll(async () => {
  await portreeve.stop()
  await database.drop()
})

/** Sets up an authenticator app. @returns the app and the cookie of the session afterwards */
async function enable(person: Person) {
  const cookie = await portreeve.signIn(person)
  const { password } = person
  const started = await portreeve.request('/api/auth/two-factor/enable', {
    cookie,
    body: { password },
  })
  expect([started.status, await started.clone().json()]).toMatchObject([200, { method: 'totp' }])
  const { totpURI, backupCodes } = (await started.json()) as {
    totpURI: string
    backupCodes: string[]
  }
  const verified = await portreeve.request(VERIFY, {
    cookie,
    body: { code: codeOf(totpURI, -1) },
  })
  expect([started.status, verified.status]).toEqual([200, 200])
  return { totpURI, backupCodes, cookie: cookieOf(verified.headers) }
}

async function signIn({ email, password }: Person, cookie?: string) {
  const answer = await portreeve.request(SIGN_IN, {
    body: { email, password },
    ...(cookie && { cookie }),
  })
  return { answer, cookie: cookieOf(answer.headers) }
}

async function isSignedIn(cookie: string): Promise<boolean> {
  return (await portreeve.request('/api/v1/account', { cookie })).status === 200
}

describe('an authenticator app', () => {
  it('is asked for after the password, and each code is accepted once', async () => {
    const alice = await portreeve.addPerson('Alice')
    const { totpURI, cookie } = await enable(alice)
    expect(await isSignedIn(cookie)).toBe(true)
    const first = await signIn(alice)
    expect(await first.answer.json()).toEqual({
      twoFactorRedirect: true,
      twoFactorMethods: ['totp'],
    })
    expect(await isSignedIn(first.cookie)).toBe(false)
    const code = codeOf(totpURI)
    const wrong = await portreeve.request(VERIFY, {
      cookie: first.cookie,
      body: { code: code === '000000' ? '000001' : '000000' },
    })
    expect(wrong.status).toBe(401)
    const verified = await portreeve.request(VERIFY, { cookie: first.cookie, body: { code } })
    expect(verified.status).toBe(200)
    expect(await isSignedIn(cookieOf(verified.headers))).toBe(true)
    const second = await signIn(alice)
    const repeated = await portreeve.request(VERIFY, { cookie: second.cookie, body: { code } })
    expect(repeated.status).toBe(403)
    expect(await isSignedIn(cookieOf(repeated.headers))).toBe(false)
    const sessions = await portreeve.db
      .selectFrom('session')
      .select('signedInWith')
      .where('accountId', '=', alice.id)
      .execute()
    expect(sessions.map(({ signedInWith }) => signedInWith).toSorted()).toEqual(['totp', 'totp'])
  })

  it('is not active before a code confirmed it', async () => {
    const bob = await portreeve.addPerson('Bob')
    const cookie = await portreeve.signIn(bob)
    const body = { password: bob.password }
    await portreeve.request('/api/auth/two-factor/enable', { cookie, body })
    expect(await (await signIn(bob)).answer.json()).toHaveProperty('token')
  })

  it('has backup codes, each valid once', async () => {
    const carol = await portreeve.addPerson('Carol')
    const { backupCodes } = await enable(carol)
    expect(backupCodes).toHaveLength(10)
    const use = async () => {
      const { cookie } = await signIn(carol)
      const body = { code: backupCodes[0] }
      return portreeve.request('/api/auth/two-factor/verify-backup-code', { cookie, body })
    }
    const used = await use()
    expect(used.status).toBe(200)
    expect(await isSignedIn(cookieOf(used.headers))).toBe(true)
    expect((await use()).status).toBe(401)
  })

  it('is changed only with the password and a recent sign-in', async () => {
    const dora = await portreeve.addPerson('Dora')
    const { cookie } = await enable(dora)
    const disable = (password?: string) =>
      portreeve.request('/api/auth/two-factor/disable', { cookie, body: { password } })
    expect((await disable()).status).toBe(400)
    expect((await disable('wrong password')).status).toBe(400)
    await portreeve.db
      .updateTable('session')
      .set({ authenticatedAt: new Date(Date.now() - 11 * 60_000) })
      .where('accountId', '=', dora.id)
      .execute()
    const stale = await disable(dora.password)
    expect([stale.status, await stale.json()]).toMatchObject([403, { code: 'reauthenticate' }])
    await portreeve.db
      .updateTable('session')
      .set({ authenticatedAt: new Date() })
      .where('accountId', '=', dora.id)
      .execute()
    expect((await disable(dora.password)).status).toBe(200)
    expect(await (await signIn(dora)).answer.json()).toHaveProperty('token')
  })

  it('lets a trusted browser skip the code, until the password changes', async () => {
    const erin = await portreeve.addPerson('Erin')
    const { totpURI } = await enable(erin)
    const { cookie } = await signIn(erin)
    const body = { code: codeOf(totpURI, 1), trustDevice: true }
    const verified = await portreeve.request(VERIFY, { cookie, body })
    const trusted = cookieOf(verified.headers)
    expect(await (await signIn(erin, trusted)).answer.json()).toHaveProperty('token')
    const newPassword = 'another password of Erin'
    const changed = await portreeve.request('/api/auth/change-password', {
      cookie: trusted,
      body: { currentPassword: erin.password, newPassword },
    })
    expect(changed.status).toBe(200)
    const again = await signIn({ ...erin, password: newPassword }, trusted)
    expect(await again.answer.json()).toHaveProperty('twoFactorRedirect')
  })

  it('confirms a sign-in with a code, once', async () => {
    const fay = await portreeve.addPerson('Fay')
    const { totpURI, cookie } = await enable(fay)
    const confirm = (code: string) =>
      portreeve.request('/api/v1/account/reauthenticate', { cookie, body: { code } })
    const code = codeOf(totpURI)
    expect((await confirm('000000')).status).toBe(403)
    expect((await confirm(code)).status).toBe(200)
    expect((await confirm(code)).status).toBe(403)
  })

  it('is removed by an operator, with everything that stood in for it', async () => {
    const gus = await portreeve.addPerson('Gus')
    const { cookie } = await enable(gus)
    await resetSecondFactors(portreeve.db, gus.email)
    expect(await isSignedIn(cookie)).toBe(false)
    expect(await (await signIn(gus)).answer.json()).toHaveProperty('token')
  })
})

describe('a new SECRET_KEY', () => {
  it('keeps authenticator apps and backup codes, once both keys were given', async () => {
    const joan = await portreeve.addPerson('Joan')
    const { totpURI } = await enable(joan)
    const rows = () =>
      portreeve.db
        .selectFrom('twoFactor')
        .select(['secret', 'backupCodes'])
        .where('accountId', '=', joan.id)
        .executeTakeFirstOrThrow()
    const before = await rows()
    const newKey = 'the next secret key of the tests of accounts'
    const rotate = (secretKey: string, previousKey: string) =>
      reencryptAll(portreeve.db, TWO_FACTOR_COLUMNS, { secretKey, previousKey })
    expect((await rotate(newKey, 'a key that nothing was encrypted with')).resealed).toBe(0)
    expect(await rows()).toEqual(before)
    expect(await rotate(newKey, SECRET_KEY)).toMatchObject({ lost: 0 })
    expect(await rows()).not.toEqual(before)
    expect(await rotate(SECRET_KEY, newKey)).toMatchObject({ lost: 0 })
    const { cookie } = await signIn(joan)
    const body = { code: codeOf(totpURI, 1) }
    expect((await portreeve.request(VERIFY, { cookie, body })).status).toBe(200)
  })
})

describe('REQUIRE_2FA', () => {
  it('lets a session without a second factor only set one up', async () => {
    const strict = await startAccounts(database.url, { REQUIRE_2FA: 'everyone' })
    const lax = await startAccounts(database.url, { REQUIRE_2FA: 'administrators' })
    try {
      const hal = await portreeve.addPerson('Hal')
      const cookie = await portreeve.signIn(hal)
      const answer = await strict.request('/api/v1/tokens', { cookie })
      expect([answer.status, await answer.json()]).toMatchObject([
        403,
        { code: 'two_factor_required' },
      ])
      for (const path of ['', '/sign-in-methods', '/passkeys', '/reauthenticate'])
        expect((await strict.request(`/api/v1/account${path}`, { cookie })).status).toBe(200)
      expect((await lax.request('/api/v1/tokens', { cookie })).status).toBe(200)
      expect((await strict.request('/api/v1/tokens', { token: hal.token })).status).toBe(200)
      const enabled = await enable(hal)
      expect((await strict.request('/api/v1/tokens', { cookie: enabled.cookie })).status).toBe(200)
    } finally {
      await strict.stop()
      await lax.stop()
    }
  })
})

describe('a disabled account', () => {
  it('has no sessions, cannot sign in, and its tokens are rejected at once', async () => {
    const ida = await portreeve.addPerson('Ida')
    const cookie = await portreeve.signIn(ida)
    const usesToken = async () =>
      (await portreeve.request('/api/v1/account', { token: ida.token })).status
    expect(await usesToken()).toBe(200)
    await setDisabled(portreeve.db, ida.email, true)
    expect(await isSignedIn(cookie)).toBe(false)
    await expect.poll(usesToken).toBe(401)
    expect((await signIn(ida)).answer.status).toBe(403)
    await setDisabled(portreeve.db, ida.email, false)
    expect((await signIn(ida)).answer.status).toBe(200)
    await expect.poll(usesToken).toBe(200)
  })
})
