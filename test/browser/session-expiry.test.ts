import type { Browser, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEST_PATH } from '../base-path.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { freePort } from '../free-port.ts'
import { codeOf } from '../servers/authenticator.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { CLIENT, startOpenIdProvider, type OpenIdProvider } from '../servers/openid-provider.ts'
import { startTestService, type TestService } from '../service.ts'
import { changed, faultsAtAllWidths, heading, visit, type Visit } from './browsing.ts'

const EMAIL = 'adele@people.test'
const PASSWORD = 'the password of Adele'

let browser: Browser
let portreeve: TestService
let provider: OpenIdProvider
let database: Database
let baseUrl: string
let visitor: Visit
let page: Page
let authenticators: CDPSession

async function start(env: Record<string, string> = {}): Promise<void> {
  const port = await freePort()
  // Passkeys need a host name.
  baseUrl = `http://localhost:${port}`
  provider = await startOpenIdProvider({
    redirectUri: `${baseUrl}${TEST_PATH}/api/auth/oidc/callback`,
  })
  portreeve = await startTestService({
    PORT: String(port),
    BASE_URL: baseUrl,
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: CLIENT.id,
    OIDC_CLIENT_SECRET: CLIENT.secret,
    OIDC_NAME: 'Authelia',
    ...env,
  })
  database = openDatabase(portreeve.databaseUrl)
  await portreeve.addPerson('Adele')
  await portreeve.addPerson('Bob')
  browser = await sharedChromium()
  visitor = await visit(browser, baseUrl)
  page = visitor.page
}

async function stop(): Promise<void> {
  await visitor.close()
  await closeContexts(browser)
  await database.close()
  await portreeve.stop()
  await provider.stop()
}

/** Ends every session, as time or another device does. */
const endSessions = () => database.db.deleteFrom('session').execute()
const labels = async () =>
  (await database.db.selectFrom('apiToken').select('label').execute())
    .map(({ label }) => label)
    .filter((label) => label !== 'tests')

const dialog = () => page.getByRole('dialog', { name: 'Sign in again' })
const created = (label: string) => page.getByText(`Token “${label}” created`)
const banner = () => page.getByRole('status').getByText('Your session has expired.')

async function signIn(): Promise<void> {
  await page.goto('/sign-in')
  await page.getByLabel('Email').fill(EMAIL)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL('**/home')
}

/** Types a label, and submits it after the session has ended. */
async function submitExpired(label: string): Promise<void> {
  await page.goto('/tokens')
  await heading(page, 'API tokens').waitFor()
  await page.getByLabel('Token name').fill(label)
  await endSessions()
  // Not with the mouse: the screen itself may have noticed first, and the dialog be open.
  await page.getByRole('button', { name: 'Create token' }).dispatchEvent('click')
  await dialog().waitFor()
  expect(await page.getByLabel('Token name').inputValue()).toBe(label)
}

async function enterPassword(password = PASSWORD): Promise<void> {
  await dialog().getByLabel('Password', { exact: true }).fill(password)
  await dialog().getByRole('button', { name: 'Sign in', exact: true }).click()
}

describe('a session that ended while a form was filled in', () => {
  beforeAll(async () => {
    await start()
    authenticators = await page.context().newCDPSession(page)
    await authenticators.send('WebAuthn.enable')
    await authenticators.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    await signIn()
  })
  afterAll(stop)

  it('is renewed with the password over the form, and the form is sent then', async () => {
    await submitExpired('typed before')
    expect(await dialog().getByLabel('Email').inputValue()).toBe(EMAIL)
    expect(await faultsAtAllWidths(page)).toEqual([])
    await enterPassword('a wrong password')
    await page.getByText('Wrong email or password.').waitFor()
    await enterPassword()
    await created('typed before').waitFor()
    expect(await dialog().isVisible()).toBe(false)
    expect(await labels()).toEqual(['typed before'])
  })

  it('keeps the input and offers the sign-in after “Not now”', async () => {
    await submitExpired('not now')
    await dialog().getByRole('button', { name: 'Not now' }).click()
    await banner().waitFor()
    await page.getByRole('alert').getByText('Your session has expired.').waitFor()
    expect(await page.getByLabel('Token name').inputValue()).toBe('not now')
    // The screen itself asks no more.
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
    await heading(page, 'Webhooks').waitFor()
    expect(await dialog().isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await enterPassword()
    await page.getByText('No endpoints yet').waitFor()
    await banner().waitFor({ state: 'detached' })
    expect(await labels()).toEqual(['typed before'])
  })

  it('is noticed without any action, and the page receives changes afterwards', async () => {
    await page.goto('/tokens')
    await heading(page, 'API tokens').waitFor()
    await page.getByLabel('Token name').fill('still here')
    await page.request.post('/api/auth/sign-out', { data: {}, headers: { origin: baseUrl } })
    await dialog().waitFor()
    await enterPassword()
    await dialog().waitFor({ state: 'hidden' })
    expect(await page.getByLabel('Token name').inputValue()).toBe('still here')
    await page.request.post('/api/v1/tokens', {
      data: { label: 'from elsewhere' },
      headers: { origin: baseUrl },
    })
    await page.getByText('from elsewhere').first().waitFor()
  })

  it('is renewed at the OpenID provider in a tab of its own', async () => {
    provider.be('adele', { email: EMAIL, email_verified: true })
    await page.goto('/account')
    await page.getByRole('button', { name: 'Link Authelia' }).click()
    await page.getByText('Linked. You can sign in with Authelia.').waitFor()
    await submitExpired('with single sign-on')
    const opened = page.waitForEvent('popup')
    await dialog().getByRole('button', { name: 'Continue with Authelia' }).click()
    await opened
    await created('with single sign-on').waitFor()
    expect(await labels()).toContain('with single sign-on')
  })

  it('is renewed with a passkey', async () => {
    await page.goto('/account')
    await page.getByLabel('Passkey name').fill('Laptop')
    await page.getByRole('button', { name: 'Add passkey' }).click()
    await page.getByText('Passkey added.').waitFor()
    await submitExpired('with a passkey')
    await dialog().getByRole('button', { name: 'Sign in with a passkey' }).click()
    await created('with a passkey').waitFor()
    expect(await labels()).toContain('with a passkey')
  })

  it('is renewed with a code after the password', async () => {
    await page.goto('/account')
    await page.getByRole('button', { name: 'Set up authenticator app' }).waitFor()
    const part = page.locator('section').filter({
      has: page.getByRole('heading', { name: 'Two-factor authentication', exact: true }),
    })
    await part.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await part.getByRole('button', { name: 'Set up authenticator app' }).click()
    const key = (await part.getByLabel('the key').locator('pre').innerText()).replaceAll(' ', '')
    const totpURI = `otpauth://totp/Portreeve?secret=${key}`
    await part.getByLabel('Code from the app').fill(codeOf(totpURI))
    const verified = changed(page)
    await part.getByRole('button', { name: 'Turn on' }).click()
    await verified
    await submitExpired('with a code')
    await enterPassword()
    await dialog().getByLabel('Code', { exact: true }).fill(codeOf(totpURI, 1))
    await dialog().getByRole('button', { name: 'Continue' }).click()
    await created('with a code').waitFor()
    expect(await labels()).toContain('with a code')
  })

  it('never repeats a request for another account', async () => {
    await submitExpired('not for Bob')
    await dialog().getByLabel('Email').fill('bob@people.test')
    await enterPassword('the password of Bob')
    await heading(page, 'Good to see you, Bob').waitFor()
    expect(await labels()).not.toContain('not for Bob')
    expect(await page.getByText(EMAIL).count()).toBe(0)
  })

  it('leaves nothing on the screens of other tabs when it was ended on purpose', async () => {
    const other = await page.context().newPage()
    await other.goto('/tokens')
    await heading(other, 'API tokens').waitFor()
    await page.goto('/account')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await heading(other, 'Sign in').waitFor()
    await other.close()
  })

  it('causes no browser errors but the rejected requests', () => {
    expect(visitor.complaints.filter((each) => !/status of 40[013]/.test(each))).toEqual([])
  })
})

describe('a session that ended where OpenID is the only way to sign in', () => {
  beforeAll(() => start({ PASSWORD_SIGN_IN: 'off', OIDC_SIGNUP: 'on' }))
  afterAll(stop)

  it('is renewed at the provider, and the form is sent then', async () => {
    provider.be('dora', { email: 'dora@people.test', email_verified: true })
    await page.goto('/sign-in')
    await page.getByRole('button', { name: 'Continue with Authelia' }).click()
    await page.waitForURL('**/home')
    await submitExpired('typed before')
    expect(await dialog().getByLabel('Password').count()).toBe(0)
    const opened = page.waitForEvent('popup')
    await dialog().getByRole('button', { name: 'Continue with Authelia' }).click()
    await opened
    await created('typed before').waitFor()
    expect(await labels()).toEqual(['typed before'])
  })
})
