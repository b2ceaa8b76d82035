import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'
import { startChromium } from '../servers/chromium.ts'
import { visit, type Visit } from './browsing.ts'

const EMAIL = 'alice@example.com'
const PASSWORD = 'correct horse battery staple'

let browser: Browser
beforeAll(async () => void (browser = await startChromium()))
afterAll(() => browser.close())

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name })

/** A story: each step stands on the one before. */
describe('somebody who just started Portreeve', () => {
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

  it('reads on the first page that there is no account yet', async () => {
    await page.goto('/')
    await page.getByText('No account exists yet').waitFor()
    expect(await page.getByRole('link', { name: 'Sign in' }).count()).toBe(0)
  })

  it('is told when the set-up link is not the right one, and what a field lacks', async () => {
    await page.goto('/setup#wrong')
    await page.getByRole('button', { name: 'Make the account' }).click()
    await page.getByText('Type your e-mail address, such as').waitFor()
    await fillSetup(page, EMAIL)
    await page.getByText('This is not the set-up link that the service printed when it started.').waitFor()
  })

  it('makes the first account through the set-up link, and is signed in', async () => {
    await page.goto(portreeve.setupLink)
    await page.reload()
    await page.getByLabel('Your name').and(page.locator(':focus')).waitFor()
    await fillSetup(page, EMAIL)
    await heading(page, 'Good to see you, Alice').waitFor()
    expect(new URL(page.url()).pathname).toBe('/home')
    await page.goto(portreeve.setupLink)
    await heading(page, 'This Portreeve is set up').waitFor()
  })

  it('makes a token that is shown this once, and that works from a program', async () => {
    await page.goto('/home')
    await page.getByRole('link', { name: 'API tokens' }).click()
    await page.getByLabel('What is it for?').fill('monitoring')
    await page.getByRole('button', { name: 'Make a token' }).click()
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
    await page.getByText('You have none yet.').waitFor()
    expect((await portreeve.request('/api/v1/account', { token })).status).toBe(401)
  })

  it('keeps a token when the question is answered with Escape', async () => {
    await page.getByLabel('What is it for?').fill('kept')
    await page.getByRole('button', { name: 'Make a token' }).click()
    await page.getByRole('button', { name: 'Revoke kept' }).click()
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.reload()
    await page.getByRole('button', { name: 'Revoke kept' }).waitFor()
  })

  it('signs out, is sent to the sign-in by a screen of their own, and comes back to it', async () => {
    await page.getByRole('link', { name: 'Account', exact: true }).click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('link', { name: 'Sign in' }).waitFor()
    await page.goto('/tokens')
    await heading(page, 'Sign in').waitFor()

    await signIn(page, 'a wrong password')
    await page.getByText('Invalid email or password').waitFor()
    await signIn(page, PASSWORD)
    await heading(page, 'API tokens').waitFor()
  })

  it('is sent to no stranger’s site after signing in', async () => {
    const bob = await visit(browser, portreeve.url)
    await bob.page.goto('/sign-in?next=%2F%2Fstranger.example%2F')
    await signIn(bob.page, PASSWORD)
    await heading(bob.page, 'Good to see you, Alice').waitFor()
    await bob.close()
  })

  it('chooses a theme that is there from the first paint on', async () => {
    const theme = () => page.evaluate('document.documentElement.dataset.mantineColorScheme')
    await page.getByTitle('Dark').click()
    expect(await theme()).toBe('dark')
    // Without the dashboard's own script: the small one before it has done it.
    await page.route('**/assets/*.js', (route) => route.abort())
    await page.reload()
    expect(await theme()).toBe('dark')
    await page.unroute('**/assets/*.js')
  })

  it('is led to the sign-in when the session has ended elsewhere', async () => {
    await page.goto('/home')
    await page.getByRole('heading', { name: 'First steps' }).waitFor()
    await page.context().clearCookies()
    await page.getByRole('link', { name: 'API tokens' }).click()
    await heading(page, 'Sign in').waitFor()
  })

  it('meets no complaint of the browser on the way, about the content security policy or anything else', () => {
    // The wrong set-up link, and the script that was held back.
    const expected = /status of 403|ERR_FAILED/
    expect(alice.complaints.filter((complaint) => !expected.test(complaint))).toEqual([])
  })
})

async function fillSetup(page: Page, email: string): Promise<void> {
  await page.getByLabel('Your name').fill('Alice')
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await page.getByRole('button', { name: 'Make the account' }).click()
}

/** With the keyboard alone: the first field has the focus. */
async function signIn(page: Page, password: string): Promise<void> {
  await page.getByLabel('E-mail').fill(EMAIL)
  await page.keyboard.press('Tab')
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
}
