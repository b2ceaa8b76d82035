import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readIdentity } from '../../src/accounts/oidc/oidc-provider.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import {
  CLIENT,
  createBrowser,
  startOpenIdProvider,
  type OpenIdProvider,
} from '../servers/openid-provider.ts'
import { ORIGIN, startAccounts, type AccountsTest, type Person } from './module.ts'

const REDIRECT_URI = `${ORIGIN}/api/auth/oidc/callback`

let database: FreshDatabase
let provider: OpenIdProvider
let portreeve: AccountsTest
let alice: Person

const settings = (issuer: string, more: Record<string, string> = {}) => ({
  OIDC_ISSUER: issuer,
  OIDC_CLIENT_ID: CLIENT.id,
  OIDC_CLIENT_SECRET: CLIENT.secret,
  OIDC_NAME: 'Authelia',
  ...more,
})

beforeAll(async () => {
  database = await freshDatabase()
  provider = await startOpenIdProvider({ redirectUri: REDIRECT_URI })
  portreeve = await startAccounts(database.url, settings(provider.issuer))
  alice = await portreeve.addPerson('Alice', { admin: true })
})

afterAll(async () => {
  await portreeve.stop()
  await provider.stop()
  await database.drop()
})

async function another(more: Record<string, string>): Promise<AccountsTest> {
  const started = await startAccounts(database.url, settings(provider.issuer, more))
  onTestFinished(() => started.stop())
  return started
}

async function signIn(service: AccountsTest, returnTo = '/') {
  const browser = createBrowser(ORIGIN, service.url)
  const { path } = await browser.visit(
    `/api/auth/oidc/start?returnTo=${encodeURIComponent(returnTo)}`,
  )
  return { browser, path }
}

async function accountOf(service: AccountsTest, cookie: string) {
  const answer = await service.request('/api/v1/account', { cookie })
  return answer.status === 200
    ? ((await answer.json()) as { data: { email: string; admin: boolean } }).data
    : null
}

async function link(service: AccountsTest, person: Person) {
  const cookie = await service.signIn(person)
  const answer = await service.request('/api/v1/account/oidc', { cookie, body: {} })
  const { data } = (await answer.json()) as { data: { url: string } }
  const browser = createBrowser(ORIGIN, service.url)
  browser.setCookies([...cookie.split('; '), ...answer.headers.getSetCookie()])
  return { browser, ...(await browser.visit(data.url)) }
}

describe('sign-in with OIDC', () => {
  it('opens an account that its owner linked, also after the address changed', async () => {
    provider.be('subject-of-alice', { email: alice.email, email_verified: true })
    expect((await link(portreeve, alice)).path).toBe('/account')
    provider.be('subject-of-alice', { email: 'else@people.test', email_verified: false })
    const { browser, path } = await signIn(portreeve, '/dmarc?page=2')
    expect(path).toBe('/dmarc?page=2')
    expect(await accountOf(portreeve, browser.cookie())).toMatchObject({ email: alice.email })
  })

  it('never opens an account by its address alone', async () => {
    const bob = await portreeve.addPerson('Bob')
    for (const email_verified of [true, false, 'false', 'true']) {
      provider.be('subject-of-eve', { email: bob.email.toUpperCase(), email_verified })
      const { browser, path } = await signIn(portreeve)
      expect(path).toBe('/sign-in?error=account_exists')
      expect(await accountOf(portreeve, browser.cookie())).toBeNull()
    }
  })

  it('is no identity where the provider does not say who it is: all such people would share one', () => {
    const claims = { email: 'nobody@people.test', email_verified: true }
    expect(readIdentity({ ...claims, sub: 'x' }, 'groups').subject).toBe('x')
    for (const sub of ['', ' ', undefined, 7])
      expect(() => readIdentity({ ...claims, sub }, 'groups')).toThrow('no subject')
  })

  it('does not link an identity that belongs to another account', async () => {
    const carol = await portreeve.addPerson('Carol')
    const dora = await portreeve.addPerson('Dora')
    provider.be('subject-of-carol', {})
    await link(portreeve, carol)
    expect((await link(portreeve, dora)).path).toBe('/sign-in?error=linked_elsewhere')
    const { browser } = await signIn(portreeve)
    expect(await accountOf(portreeve, browser.cookie())).toMatchObject({ email: carol.email })
  })

  it('does not link to an account that is no longer signed in in this browser', async () => {
    const erin = await portreeve.addPerson('Erin')
    const cookie = await portreeve.signIn(erin)
    const answer = await portreeve.request('/api/v1/account/oidc', { cookie, body: {} })
    const { data } = (await answer.json()) as { data: { url: string } }
    const victim = createBrowser(ORIGIN, portreeve.url)
    victim.setCookies(answer.headers.getSetCookie())
    provider.be('subject-of-victim', {})
    expect((await victim.visit(data.url)).path).toBe('/sign-in?error=not_signed_in')
    // Another browser has neither the cookie of the flow nor its state.
    const other = createBrowser(ORIGIN, portreeve.url)
    expect((await other.visit(data.url)).path).toBe('/sign-in?error=expired')
  })

  it('creates accounts only where OIDC_SIGNUP is on, with a verified address', async () => {
    provider.be('subject-of-fay', { email: 'fay@people.test', email_verified: true, name: 'Fay' })
    expect((await signIn(portreeve)).path).toBe('/sign-in?error=sign_up_closed')
    const open = await another({ OIDC_SIGNUP: 'on' })
    provider.be('subject-of-gus', { email: 'gus@people.test', email_verified: 'false' })
    expect((await signIn(open)).path).toBe('/sign-in?error=email_unverified')
    provider.be('subject-of-gus', {})
    expect((await signIn(open)).path).toBe('/sign-in?error=email_missing')
    provider.be('subject-of-fay', { email: 'Fay@people.test', email_verified: true, name: 'Fay' })
    const { browser, path } = await signIn(open)
    expect(path).toBe('/')
    expect(await accountOf(open, browser.cookie())).toMatchObject({
      email: 'fay@people.test',
      name: 'Fay',
      admin: false,
    })
    const trusting = await another({ OIDC_SIGNUP: 'on', OIDC_TRUST_EMAIL: 'on' })
    provider.be('subject-of-gus', { email: 'gus@people.test', email_verified: false })
    expect((await signIn(trusting)).path).toBe('/')
  })

  it('applies groups at each sign-in, and never removes the last administrator', async () => {
    const grouped = await another({
      OIDC_SIGNUP: 'on',
      OIDC_ALLOWED_GROUPS: 'staff, admins',
      OIDC_ADMIN_GROUP: 'admins',
    })
    const person = { email: 'hal@people.test', email_verified: true }
    provider.be('subject-of-hal', person)
    expect((await signIn(grouped)).path).toBe('/sign-in?error=group_not_allowed')
    const adminOf = async (groups: unknown) => {
      provider.be('subject-of-hal', { ...person, groups })
      const { browser } = await signIn(grouped)
      return (await accountOf(grouped, browser.cookie()))?.admin
    }
    expect(await adminOf(['staff', 'admins'])).toBe(true)
    expect(await adminOf('staff')).toBe(false)
    await grouped.db.updateTable('account').set({ admin: false }).execute()
    expect(await adminOf(['admins'])).toBe(true)
    expect(await adminOf(['staff'])).toBe(true)
    await grouped.db
      .updateTable('account')
      .set({ admin: true })
      .where('id', '=', alice.id)
      .execute()
  })

  it('keeps an administrator whose groups the provider left out, as there are too many', async () => {
    const grouped = await another({ OIDC_SIGNUP: 'on', OIDC_ADMIN_GROUP: 'admins' })
    const person = { email: 'ivy@people.test', email_verified: true }
    const adminOf = async (claims: object) => {
      provider.be('subject-of-ivy', { ...person, ...claims })
      const { browser } = await signIn(grouped)
      return (await accountOf(grouped, browser.cookie()))?.admin
    }
    expect(await adminOf({ groups: ['admins'] })).toBe(true)
    const elsewhere = {
      _claim_names: { groups: 'src1' },
      _claim_sources: { src1: { endpoint: 'https://graph.test/me/getMemberObjects' } },
    }
    expect(await adminOf(elsewhere)).toBe(true)
    expect(await adminOf({})).toBe(false)
  })

  it('reports what the provider said, and accepts no forged or repeated answer', async () => {
    provider.refuse('access_denied')
    expect((await signIn(portreeve)).path).toBe('/sign-in?error=provider&provider=access_denied')
    provider.be('subject-of-alice', {})
    const browser = createBrowser(ORIGIN, portreeve.url)
    const forged = await browser.visit('/api/auth/oidc/callback?code=x&state=y')
    expect(forged.path).toBe('/sign-in?error=expired')
    const used = await signIn(portreeve)
    expect(used.path).toBe('/')
    const callback = used.browser.visited.find((url) => url.includes('/callback')) ?? ''
    expect(callback).toContain('code=')
    expect((await used.browser.visit(callback)).path).toBe('/sign-in?error=expired')
  })

  it('returns only to paths of the dashboard', async () => {
    for (const returnTo of ['https://evil.test/', '//evil.test', '/\\evil.test', 'javascript:1']) {
      provider.be('subject-of-alice', {})
      expect((await signIn(portreeve, returnTo)).path).toBe('/')
    }
  })

  it('starts while the provider is down, and works when it is back', async () => {
    const closed = await startOpenIdProvider({ redirectUri: REDIRECT_URI })
    await closed.stop()
    const started = await startAccounts(database.url, settings(closed.issuer))
    onTestFinished(() => started.stop())
    expect((await signIn(started)).path).toBe('/sign-in?error=provider_unreachable')
    const back = await startOpenIdProvider({ redirectUri: REDIRECT_URI, port: closed.port })
    onTestFinished(() => back.stop())
    back.be('subject-of-alice', { email: alice.email, email_verified: true })
    // The same subject at another issuer is another identity.
    expect((await signIn(started)).path).toBe('/sign-in?error=account_exists')
  })

  it('can be the only way, and disabled accounts stay out', async () => {
    const only = await another({ PASSWORD_SIGN_IN: 'off', SIGNUP: 'open' })
    const { email, password } = alice
    const withPassword = await only.request('/api/auth/sign-in/email', {
      body: { email, password },
    })
    expect(withPassword.status).toBe(403)
    expect(await withPassword.json()).toMatchObject({
      error: 'Sign-in with a password is off on this service. Use Authelia or a passkey.',
    })
    const service = await only.request('/api/v1/service')
    expect(await service.json()).toMatchObject({
      data: { signup: false, passwordSignIn: false, oidc: { name: 'Authelia' } },
    })
    provider.be('subject-of-alice', {})
    expect((await signIn(only)).path).toBe('/')
    const disabledAt = new Date()
    const change = (value: Date | null) =>
      only.db.updateTable('account').set({ disabledAt: value }).where('id', '=', alice.id).execute()
    await change(disabledAt)
    expect((await signIn(only)).path).toBe('/sign-in?error=account_disabled')
    await change(null)
  })

  it('is unlinked only where another way in remains', async () => {
    const ida = await portreeve.addPerson('Ida')
    provider.be('subject-of-ida', {})
    const { browser } = await link(portreeve, ida)
    const unlink = () =>
      portreeve.request('/api/v1/account/oidc', { cookie: browser.cookie(), method: 'DELETE' })
    await portreeve.db
      .deleteFrom('credential')
      .where('password', 'is not', null)
      .where('accountId', '=', ida.id)
      .execute()
    expect((await unlink()).status).toBe(409)
    await portreeve.db
      .insertInto('credential')
      .values({
        accountId: ida.id,
        provider: 'credential',
        providerAccountId: ida.id,
        password: 'x:y',
      })
      .execute()
    expect((await unlink()).status).toBe(200)
    expect((await signIn(portreeve)).path).toBe('/sign-in?error=sign_up_closed')
  })
})
