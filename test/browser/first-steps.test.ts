import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { visit, type Visit } from './browsing.ts'

const EMAIL = 'alice@example.com'
const PASSWORD = 'correct horse battery staple'

let browser: Browser
beforeAll(async () => void (browser = await sharedChromium()))
afterAll(() => closeContexts(browser))

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

/** Each test continues where the one before it ended. */
describe('a new installation', () => {
  let portreeve: TestService
  let alice: Visit
  let page: Page
  beforeAll(async () => {
    portreeve = await startTestService()
    alice = await visit(browser, portreeve.url)
    page = alice.page
  })
  afterAll(async () => {
    await alice.close()
    await portreeve.stop()
  })

  it('shows on the first page that no account exists', async () => {
    await page.goto('/')
    await page.getByText('No account exists yet').waitFor()
    expect(await page.getByRole('link', { name: 'Sign in' }).count()).toBe(0)
  })

  it('rejects a wrong setup link, and names the fields with problems', async () => {
    await page.goto('/setup#wrong')
    await page.getByRole('button', { name: 'Create account' }).click()
    await page.getByText('Enter an email address, such as').waitFor()
    await fillSetup(page, EMAIL)
    await page
      .getByText('This is not the setup link that the service printed when it started.')
      .waitFor()
  })

  it('creates the first account with the setup link and signs in', async () => {
    await page.goto(portreeve.setupLink)
    await page.reload()
    await page.getByLabel('Your name').and(page.locator(':focus')).waitFor()
    await fillSetup(page, EMAIL)
    await heading(page, 'Good to see you, Alice').waitFor()
    expect(new URL(page.url()).pathname).toBe('/home')
    await page.goto(portreeve.setupLink)
    await heading(page, 'Setup is complete').waitFor()
  })

  it('creates a token that is shown once and works in a program', async () => {
    await page.goto('/home')
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.getByRole('link', { name: 'API tokens', exact: true }).click()
    await page.getByLabel('Token name').fill('monitoring')
    await page.getByRole('button', { name: 'Create token' }).click()
    await page.getByRole('button', { name: 'Copy the token' }).click()
    const token = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(token).toMatch(/^prv_/)
    const answer = await portreeve.request('/api/v1/account', { token })
    expect(await answer.json()).toMatchObject({ data: { email: EMAIL, via: 'token' } })

    await page.reload()
    await page.getByText(`prv_…${token.slice(-4)}`).waitFor()
    expect(await page.content()).not.toContain(token)

    await page.getByRole('button', { name: 'Revoke monitoring' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('No tokens yet.').waitFor()
    expect((await portreeve.request('/api/v1/account', { token })).status).toBe(401)
  })

  it('keeps a token when the confirmation is closed with Escape', async () => {
    await page.getByLabel('Token name').fill('kept')
    await page.getByRole('button', { name: 'Create token' }).click()
    await page.getByRole('button', { name: 'Revoke kept' }).click()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.reload()
    await page.getByRole('button', { name: 'Revoke kept' }).waitFor()
  })

  it('redirects to the sign-in after signing out, and back afterwards', async () => {
    await page.getByRole('link', { name: 'Account', exact: true }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in' }).waitFor()
    await page.goto('/tokens')
    await heading(page, 'Sign in').waitFor()

    await signIn(page, 'a wrong password')
    await page.getByText('Wrong email or password.').waitFor()
    await signIn(page, PASSWORD)
    await heading(page, 'API tokens').waitFor()
  })

  it('never redirects to another site after signing in', async () => {
    const bob = await visit(browser, portreeve.url)
    await bob.page.goto('/sign-in?next=%2F%2Fstranger.example%2F')
    await signIn(bob.page, PASSWORD)
    await heading(bob.page, 'Good to see you, Alice').waitFor()
    await bob.close()
  })

  it('applies the chosen theme from the first paint on', async () => {
    const theme = () => page.evaluate('document.documentElement.dataset.theme')
    await page.getByTitle('Dark').click()
    expect(await theme()).toBe('dark')
    // Without the dashboard’s main script: the small one before it sets the theme.
    await page.route('**/assets/*.js', (route) => route.abort())
    await page.reload()
    expect(await theme()).toBe('dark')
    await page.unroute('**/assets/*.js')
  })

  it('redirects to the sign-in when a page is loaded without a session', async () => {
    await page.context().clearCookies()
    await page.goto('/tokens')
    await heading(page, 'Sign in').waitFor()
  })

  it('causes no browser errors, for example about the content security policy', () => {
    // The wrong setup link, and the script that was blocked.
    const expected = /status of 403|ERR_FAILED/
    expect(alice.complaints.filter((complaint) => !expected.test(complaint))).toEqual([])
  })
})

async function fillSetup(page: Page, email: string): Promise<void> {
  await page.getByLabel('Your name').fill('Alice')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Create account' }).click()
}

/** With the keyboard alone: the first field has the focus. */
async function signIn(page: Page, password: string): Promise<void> {
  await page.getByLabel('Email').fill(EMAIL)
  await page.keyboard.press('Tab')
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
}
