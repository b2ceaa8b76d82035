import type { Browser, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEST_PATH } from '../base-path.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { createResetLinkFor } from '../../src/accounts/recovery/password-reset.ts'
import { freePort } from '../free-port.ts'
import { codeOf } from '../servers/authenticator.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { CLIENT, startOpenIdProvider, type OpenIdProvider } from '../servers/openid-provider.ts'
import { SERVICE_KEY, startTestService, type TestService } from '../service.ts'
import { changed, faultsAtAllWidths, heading, visit, type Visit } from './browsing.ts'

let browser: Browser
let portreeve: TestService
let provider: OpenIdProvider
let database: Database
let visitor: Visit
let page: Page
let authenticators: CDPSession

const PASSWORD = 'the password of Adele'
const EMAIL = 'adele@people.test'

beforeAll(async () => {
  const port = await freePort()
  // Passkeys need a host name.
  const baseUrl = `http://localhost:${port}`
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
  })
  database = openDatabase(portreeve.databaseUrl)
  await portreeve.addPerson('Adele')
  browser = await sharedChromium()
  visitor = await visit(browser, baseUrl)
  page = visitor.page
  authenticators = await page.context().newCDPSession(page)
  await authenticators.send('WebAuthn.enable')
})

afterAll(async () => {
  await visitor.close()
  await closeContexts(browser)
  await database.close()
  await portreeve.stop()
  await provider.stop()
})

/** Plugs in an authenticator, as a phone or a laptop has one. @returns its id */
async function plugIn(isUserVerified: boolean): Promise<string> {
  const { authenticatorId } = await authenticators.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  })
  return authenticatorId
}

async function signInWithPassword(): Promise<void> {
  await page.goto('/sign-in')
  await page.getByLabel('Email').fill(EMAIL)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

async function signOut(): Promise<void> {
  await page.goto('/account')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.waitForURL(/\/$/)
}

const section = (name: string) =>
  page.locator('section').filter({ has: page.getByRole('heading', { name, exact: true }) })

describe('a passkey', () => {
  it('is added to the account and signs in without the password', async () => {
    await plugIn(true)
    await signInWithPassword()
    await page.waitForURL('**/home')
    await page.goto('/account')
    const passkeys = section('Passkeys')
    await passkeys.getByLabel('Passkey name').fill('Laptop')
    await passkeys.getByRole('button', { name: 'Add passkey' }).click()
    await passkeys.getByText('Passkey added.').waitFor()
    await passkeys.getByRole('button', { name: 'Remove Laptop' }).waitFor()
    await signOut()
    await page.goto('/sign-in')
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL('**/home')
    const sessions = await database.db.selectFrom('session').select('signedInWith').execute()
    expect(sessions.map(({ signedInWith }) => signedInWith)).toEqual(['passkey'])
  })

  it('confirms a sign-in that is no longer recent', async () => {
    const authenticatedAt = new Date(Date.now() - 3_600_000)
    await database.db.updateTable('session').set({ authenticatedAt }).execute()
    await page.goto('/tokens')
    await page.getByLabel('Token name').fill('backups')
    await page.getByRole('button', { name: 'Create token' }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm that it’s you' })
    await dialog.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByText('Token “backups” created').waitFor()
  })

  it('is refused where the device asked for neither PIN nor biometrics', async () => {
    await authenticators.send('WebAuthn.disable')
    await authenticators.send('WebAuthn.enable')
    await plugIn(false)
    await page.goto('/account')
    const passkeys = section('Passkeys')
    await passkeys.getByLabel('Passkey name').fill('Unlocked phone')
    await passkeys.getByRole('button', { name: 'Add passkey' }).click()
    await passkeys.getByText('The passkey was not created. Try again.').waitFor()
  })

  it('is removed, and no longer signs in', async () => {
    const passkeys = section('Passkeys')
    await passkeys.getByRole('button', { name: 'Remove Laptop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
    await passkeys.getByText('No passkeys yet.').waitFor()
  })
})

describe('an authenticator app', () => {
  let totpURI = ''

  it('is set up with a QR code, and shows its backup codes once', async () => {
    await page.goto('/account')
    const part = section('Two-factor authentication')
    await part.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await part.getByRole('button', { name: 'Set up authenticator app' }).click()
    await part.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor()
    const key = (await part.getByLabel('the key').locator('pre').innerText()).replaceAll(' ', '')
    totpURI = `otpauth://totp/Portreeve?secret=${key}`
    await part.locator('h3:focus').getByText('1. Scan this code').waitFor()
    const code = await part
      .getByRole('img', { name: 'QR code for your authenticator app' })
      .boundingBox()
    expect(code && code.y >= 0 && code.y + code.height <= 900).toBe(true)
    expect(await faultsAtAllWidths(page)).toEqual([])
    await part.getByLabel('Code from the app').fill(codeOf(totpURI))
    const verified = changed(page)
    await part.getByRole('button', { name: 'Turn on' }).click()
    await verified
    await part.getByText('On. Signing in with your password').waitFor()
    const codes = await part.getByLabel('the backup codes').locator('pre').innerText()
    expect(codes.split('\n')).toHaveLength(10)
    expect(await faultsAtAllWidths(page)).toEqual([])
    await part.getByRole('button', { name: 'I saved them' }).click()
    await part.getByLabel('the backup codes').waitFor({ state: 'detached' })
  })

  it('is asked for after the password', async () => {
    await signOut()
    await signInWithPassword()
    await heading(page, 'Enter your code').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page.getByLabel('Code', { exact: true }).fill('000000')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('This code is wrong.').waitFor()
    // The code of the present step may be the one that confirmed the app.
    await page.getByLabel('Code', { exact: true }).fill(codeOf(totpURI, 1))
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.waitForURL('**/home')
  })

  it('is turned off with the password', async () => {
    await page.goto('/account')
    const part = section('Two-factor authentication')
    await part.getByRole('button', { name: 'Turn off' }).click()
    await part.getByLabel('Password', { exact: true }).fill(PASSWORD)
    const turnedOff = changed(page)
    await part.getByRole('button', { name: 'Turn off' }).click()
    await turnedOff
    await part.getByText('Off. Anyone who knows your password').waitFor()
  })
})

describe('single sign-on', () => {
  it('is linked under Account, and signs in to the same account', async () => {
    provider.be('adele', { email: EMAIL, email_verified: true })
    await page.goto('/account')
    await section('Single sign-on').getByRole('button', { name: 'Link Authelia' }).click()
    await page.getByText('Linked. You can sign in with Authelia.').waitFor()
    await signOut()
    await page.goto('/sign-in?next=/tokens')
    await page.getByRole('button', { name: 'Continue with Authelia' }).click()
    await heading(page, 'API tokens').waitFor()
  })

  it('explains why it failed', async () => {
    await signOut()
    provider.refuse('access_denied')
    await page.context().clearCookies()
    await page.goto('/sign-in')
    await page.getByRole('button', { name: 'Continue with Authelia' }).click()
    await page.getByText('The provider said: access_denied.').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
  })
})

describe('a forgotten password', () => {
  it('is set anew with a link of the operator, where no email is sent', async () => {
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    await page.getByText('Ask its administrator for a link').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    const options = {
      db: database.db,
      secretKey: SERVICE_KEY,
      baseUrl: new URL(page.url()).origin + TEST_PATH,
    }
    const { link } = await createResetLinkFor(options, EMAIL)
    await page.goto(link)
    await page.getByLabel('New password').fill('another password of Adele')
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page.getByRole('button', { name: 'Set password' }).click()
    await heading(page, 'Your password is set').waitFor()
  })

  it('caused no browser errors but the rejected requests', () => {
    const unexpected = visitor.complaints.filter(
      (complaint) => !/status of (403|409|400)/.test(complaint),
    )
    expect(unexpected).toEqual([])
  })
})
