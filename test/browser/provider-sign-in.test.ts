import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEST_PATH } from '../base-path.ts'
import { freePort } from '../free-port.ts'
import { accountOn, contents, fill, read } from '../migration/mailbox.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startMailProvider, type MailProviderServer } from '../servers/mail-provider.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startTestService, type TestService } from '../service.ts'
import { faultsAtAllWidths, signedIn, type Visit } from './browsing.ts'

describe('a user who signs in to mailboxes at their provider', () => {
  let provider: MailProviderServer
  let server: MailServer
  let portreeve: TestService
  let browser: Browser
  let alice: Visit
  let page: Page

  beforeAll(async () => {
    const port = await freePort()
    // Another host than that of the provider, because cookies are the same on all ports.
    const url = `http://localhost:${port}`
    provider = await startMailProvider(`${url}${TEST_PATH}/api/v1/imap/oauth/callback`)
    portreeve = await startTestService({ PORT: String(port), BASE_URL: url, ...provider.settings })
    ;[server, browser] = await Promise.all([
      startDovecot({ introspectAt: provider.introspectionUrl }),
      sharedChromium(),
    ])
    for (const user of ['alice', 'bob']) await server.addUser(user, 'secret')
    await fill(accountOn(server.port), { INBOX: [{}, {}, {}] })
    alice = await signedIn(browser, portreeve, 'Alice')
    page = alice.page
  })
  afterAll(async () => {
    await alice.close()
    await closeContexts(browser)
    await portreeve.stop()
    await Promise.all([server.stop(), provider.stop()])
  })

  /** Follows the button to the window of the provider, and closes it. */
  async function signIn(text: string): Promise<void> {
    const opened = page.context().waitForEvent('page')
    await page.getByRole('button', { name: 'Sign in with Example Mail' }).click()
    const other = await opened
    await other.getByRole('heading', { level: 1 }).waitFor()
    expect(await other.locator('main').innerText()).toContain(text)
    await other.close()
  }

  async function chooseServer(user: string): Promise<void> {
    await page.getByLabel('User name').fill(user)
    if (!(await page.getByLabel('Connection security').isVisible()))
      await page.getByText('Port and security').click()
    await page.getByLabel('Connection security').selectOption('STARTTLS')
    await page.getByLabel('Port', { exact: true }).fill(String(server.port))
  }

  it('sees why a sign-in failed, and signs in without a password', async () => {
    await page.goto('/migrations/new')
    await chooseServer('alice')
    provider.state.denied = 'access_denied'
    await signIn('The access to the mailbox was not allowed')
    await page.getByText('The access to the mailbox was not allowed').waitFor()
    provider.state.denied = null
    await signIn('Signed in as alice@mail.test')
    await page.getByText('Signed in as alice@mail.test').waitFor()
    expect(await page.getByLabel('IMAP server').inputValue()).toBe('127.0.0.1')
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page.getByRole('button', { name: 'Test and list folders' }).click()
    await page.getByText('1 folder, 3 messages').first().waitFor()
  })

  it('signs in again on the page of a migration, which then continues', async () => {
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByLabel('IMAP server').fill('127.0.0.1')
    await page.getByLabel('Password', { exact: true }).fill('secret')
    await chooseServer('bob')
    await page.getByRole('button', { name: 'Test connection' }).click()
    await page.getByRole('button', { name: 'Start migration' }).waitFor()
    await provider.revokeAll()
    await page.getByRole('button', { name: 'Start migration' }).click()
    await page.getByText('Waiting for a new sign-in').waitFor()
    await page.getByText('The permission at Example Mail has ended').first().waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await signIn('Signed in as alice@mail.test')
    await page.getByText('All 3 messages are').waitFor()
    const [here, there] = await Promise.all(
      ['alice', 'bob'].map((user) => read(accountOn(server.port, user))),
    )
    expect(contents(there?.['INBOX'])).toEqual(contents(here?.['INBOX']))
    expect(alice.complaints).toEqual([])
  })
})
