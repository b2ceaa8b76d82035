import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'
import { accountOn, contents, fill, mail, read } from '../migration/mailbox.ts'
import { startChromium } from '../servers/chromium.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startProxy, type Proxy } from '../servers/proxy.ts'
import { startTokens } from '../servers/tokens.ts'
import { faultsAtAllWidths, heading, signedIn, tabTo, type Visit } from './browsing.ts'

/** Milliseconds: a whole migration with its verification, on a busy machine. */
const PATIENCE = 60_000

let from: MailServer
let to: MailServer
let picky: MailServer
let slow: Proxy
let portreeve: TestService
let browser: Browser
beforeAll(async () => {
  ;[from, to, picky] = await Promise.all([
    startDovecot(),
    startDovecot(),
    startDovecot({ quota: '100M', extra: 'plugin {\n  quota_max_mail_size = 100k\n}' }),
  ])
  slow = await startProxy(to.port, { roundTrip: 400 })
  await from.addUser('alice', 'secret')
  await fill(accountOn(from.port), {
    INBOX: Array.from({ length: 12 }, () => ({ flags: ['\\Seen'] })),
    'Archive/2024': [{}, {}, {}],
    Sent: [{}, {}],
  })
  portreeve = await startTestService()
  browser = await startChromium()
})
afterAll(async () => {
  await browser.close()
  await portreeve.stop()
  await slow.close()
  await Promise.all([from, to, picky].map((server) => server.stop()))
})

type Account = { port: number; user: string; password?: string }

async function fillAccount(page: Page, { password = 'secret', ...account }: Account): Promise<void> {
  await page.getByLabel('Password', { exact: true }).fill(password)
  await fillServer(page, account)
}

async function fillServer(page: Page, { port, user }: Account): Promise<void> {
  await page.getByLabel('IMAP server').fill('127.0.0.1')
  await page.getByLabel('User').fill(user)
  if (!(await page.getByLabel('Connection').isVisible())) await page.getByText('Port and security').click()
  await page.getByLabel('Connection').selectOption('STARTTLS')
  await page.getByLabel('Port', { exact: true }).fill(String(port))
}

/** The whole way to the last step. */
async function comeToReview(page: Page, destination: Account, source: Account = { port: from.port, user: 'alice' }) {
  await page.goto('/migrations/new')
  await fillAccount(page, source)
  await page.getByRole('button', { name: 'Test, and list the folders' }).click()
  await page.getByRole('button', { name: 'Go on' }).click()
  await fillAccount(page, destination)
  await page.getByRole('button', { name: 'Test the connection' }).click()
  await page.getByRole('button', { name: 'Start the migration' }).waitFor()
}

/** A story: each step stands on the one before. */
describe('somebody who moves a mailbox', () => {
  let alice: Visit
  let page: Page
  beforeAll(async () => {
    await to.addUser('alice', 'secret')
    alice = await signedIn(browser, portreeve, 'Alice')
    page = alice.page
  })
  afterAll(() => alice.close())

  it('is told what the plan allows, and how it goes at a terminal', async () => {
    await page.goto('/migrations')
    await page.getByText('No mailbox was moved yet').waitFor()
    await page.getByText('This month: 0 of 1 migration on the plan “free”').waitFor()
    await page.getByRole('link', { name: 'New migration' }).click()
    await heading(page, 'New migration').waitFor()
  })

  it('is told what a test found: no server there, or what the server said', async () => {
    await page.getByRole('button', { name: 'Test, and list the folders' }).click()
    await page.getByText('Type the name of the server').waitFor()
    await fillAccount(page, { port: 1, user: 'alice' })
    await page.getByRole('button', { name: 'Test, and list the folders' }).click()
    await page.getByRole('alert').getByText('127.0.0.1').waitFor()
    await fillAccount(page, { port: from.port, user: 'alice', password: 'wrong' })
    await page.getByRole('button', { name: 'Test, and list the folders' }).click()
    await page.getByText('The server said: “NO [AUTHENTICATIONFAILED]').waitFor()
  })

  it('picks folders by what is in them', { timeout: PATIENCE }, async () => {
    await page.getByLabel('Password', { exact: true }).fill('secret')
    await page.getByRole('button', { name: 'Test, and list the folders' }).click()
    await page.getByText('3 folders, 17 messages').first().waitFor()
    await page.getByLabel('Sent').uncheck()
    await page.getByText('2 folders, 15 messages').first().waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page.getByRole('button', { name: 'None' }).click()
    expect(await page.getByRole('button', { name: 'Go on' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'All', exact: true }).click()
    await page.getByRole('button', { name: 'Go on' }).click()
  })

  it('tests the destination, and goes back to what was decided without typing it again', async () => {
    await fillAccount(page, { port: to.port, user: 'alice', password: 'wrong' })
    await page.getByRole('button', { name: 'Test the connection' }).click()
    await page.getByText('refused the user name or password').waitFor()
    await page.getByRole('button', { name: 'Folders (change)' }).click()
    await page.getByText('3 folders, 17 messages').first().waitFor()
    await page.getByRole('button', { name: 'Go on' }).click()
    await fillAccount(page, { port: to.port, user: 'alice' })
    await page.getByRole('button', { name: 'Test the connection' }).click()
    await page.getByRole('button', { name: 'Start the migration' }).waitFor()
  })

  it('looks in a dry run where everything would go, and how large it is', { timeout: PATIENCE }, async () => {
    await page.getByLabel('Put everything below a folder').fill('Old')
    await page.getByRole('button', { name: 'Dry run first' }).click()
    await page.getByText('It can be copied').waitFor({ timeout: PATIENCE })
    await page.getByPlaceholder('Old/Archive/2024').waitFor()
    await page.getByRole('row', { name: /^Sent.*bytes|^Sent.*kB/ }).waitFor()
    await page.getByLabel('Sent goes to').fill('Gesendet')
    await page.getByText('Something was changed since').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    expect((await read(accountOn(to.port)))['INBOX']).toEqual([])
  })

  it('starts it, follows it, and reads that every message is accounted for', { timeout: PATIENCE }, async () => {
    await page.getByRole('button', { name: 'Start the migration' }).click()
    await heading(page, 'Migration of alice').waitFor()
    await page.getByText('Every one of the 17 messages is accounted for.').waitFor({ timeout: PATIENCE })
    await page.getByRole('row', { name: 'Sent to Gesendet 2 of 2' }).waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    const [there, here] = [await read(accountOn(from.port)), await read(accountOn(to.port))]
    expect(contents(here['Old/INBOX'])).toEqual(contents(there['INBOX']))
    expect(contents(here['Gesendet'])).toEqual(contents(there['Sent']))
  })

  it('finds it in the list, and that the month is used up', async () => {
    await page.getByRole('link', { name: 'Migrations' }).first().click()
    await page.getByRole('row', { name: '17 of 17 messages Done' }).waitFor()
    await page.getByRole('row', { name: 'dry run 17 messages Looked through' }).waitFor()
    await page.getByText('This month’s migrations are used up').waitFor()
  })

  it('never sees a password again, in any address, page or storage', async () => {
    for (const path of ['/migrations', page.url()]) {
      await page.goto(path)
      await page.waitForLoadState('networkidle')
      const kept = await page.evaluate<string>('JSON.stringify([location, { ...localStorage }, { ...sessionStorage }])')
      expect(kept + (await page.content())).not.toContain('secret')
    }
  })

  it('meets no complaint of the browser but about the tests that failed', () => {
    expect(alice.complaints.filter((complaint) => !/status of (422|502)/.test(complaint))).toEqual([])
  })
})

describe('a migration that is stopped', () => {
  it('keeps what was copied, and goes on with the passwords typed once more', { timeout: 2 * PATIENCE }, async () => {
    await to.addUser('bob', 'secret')
    const { page, close } = await signedIn(browser, portreeve, 'Bob', 1440, { plan: 'pro' })
    await comeToReview(page, { port: slow.port, user: 'bob' })
    await page.getByRole('button', { name: 'Start the migration' }).click()
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Stop this migration' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
    await page.getByText('It was stopped after').waitFor()

    slow.roundTrip = 0
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Type the password.').first().waitFor()
    await page.getByLabel('Source: password').fill('secret')
    await page.getByLabel('Destination: password').fill('secret')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Every one of the 17 messages is accounted for.').waitFor({ timeout: PATIENCE })
    expect((await read(accountOn(to.port, 'bob')))['INBOX']).toHaveLength(12)
    await close()
  })
})

describe('a migration with a message that is refused', () => {
  it('names the message and the reason, and offers to try that again', { timeout: PATIENCE }, async () => {
    await from.addUser('big', 'secret')
    await picky.addUser('big', 'secret')
    await fill(accountOn(from.port, 'big'), { INBOX: [{}, { body: mail(300_000) }, {}] })
    const { page, close } = await signedIn(browser, portreeve, 'Emil', 1440, { plan: 'pro' })
    await comeToReview(page, { port: picky.port, user: 'big' }, { port: from.port, user: 'big' })
    await page.getByRole('button', { name: 'Start the migration' }).click()
    await page.getByText('1 thing could not be copied').waitFor({ timeout: PATIENCE })
    await page.getByRole('row', { name: /INBOX message 2 · .*@example\.org.* · 30\d kB/ }).waitFor()
    await page.getByLabel('Source: password').waitFor()
    await close()
  })
})

describe('an account that takes access tokens', () => {
  it('is moved with one, and tried again with another once that has expired', { timeout: 2 * PATIENCE }, async () => {
    const tokens = await startTokens()
    const modern = await startDovecot({ tokensAt: tokens.url })
    await modern.addUser('alice', 'secret')
    tokens.valid.set('the-first-token', 'alice')
    const { page, close } = await signedIn(browser, portreeve, 'Tom', 1440, { plan: 'pro' })
    await page.goto('/migrations/new')
    await fillAccount(page, { port: from.port, user: 'alice' })
    await page.getByRole('button', { name: 'Test, and list the folders' }).click()
    await page.getByRole('button', { name: 'Go on' }).click()

    await page.getByRole('button', { name: 'Use an access token instead' }).click()
    expect(await page.evaluate('document.activeElement.name')).toBe('accessToken')
    await page.getByText('Most tokens hold for an hour').waitFor()
    await page.getByRole('button', { name: 'Use the password instead' }).click()
    await page.getByRole('button', { name: 'Use an access token instead' }).click()
    await fillServer(page, { port: modern.port, user: 'alice' })
    await page.getByRole('button', { name: 'Test the connection' }).click()
    await page.getByText('Paste the access token.').waitFor()
    await page.getByLabel('Access token', { exact: true }).fill('the-first-token\n')
    await page.getByRole('button', { name: 'Test the connection' }).click()
    await page.getByRole('button', { name: 'Start the migration' }).waitFor()

    tokens.valid.delete('the-first-token')
    await page.getByRole('button', { name: 'Start the migration' }).click()
    await page.getByRole('button', { name: 'Try again' }).waitFor({ timeout: PATIENCE })
    tokens.valid.set('the-second-token', 'alice')
    await page.getByLabel('Source: password').fill('secret')
    await page.getByRole('button', { name: 'Use an access token instead' }).last().click()
    await page.getByLabel('Destination: access token').fill('the-second-token')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Every one of the 17 messages is accounted for.').waitFor({ timeout: PATIENCE })
    expect((await read(accountOn(modern.port)))['INBOX']).toHaveLength(12)
    await close()
    await modern.stop()
    await tokens.close()
  })
})

describe('with the keyboard alone', () => {
  it('a mailbox is moved from the first field to the last word', { timeout: 2 * PATIENCE }, async () => {
    await to.addUser('klara', 'secret')
    const { page, close } = await signedIn(browser, portreeve, 'Klara', 1440, { plan: 'pro' })
    await page.goto('/migrations')
    await heading(page, 'Migrations').waitFor()
    await tabTo(page, 'New migration')
    await page.keyboard.press('Enter')
    await heading(page, 'New migration').waitFor()
    await typeAccount(page, from.port, 'alice')
    await page.getByText('What is to be copied?').waitFor()
    await tabTo(page, 'Archive/2024')
    await page.keyboard.press('Space')
    await tabTo(page, 'Go on')
    await page.keyboard.press('Enter')
    await page.getByText('Where is it to go?').waitFor()
    await typeAccount(page, to.port, 'klara')
    await page.getByText('How is it to be copied?').waitFor()
    await tabTo(page, 'Start the migration')
    await page.keyboard.press('Enter')
    await page.getByText('Every one of the 14 messages is accounted for.').waitFor({ timeout: PATIENCE })
    await close()
  })
})

async function typeAccount(page: Page, port: number, user: string): Promise<void> {
  await tabTo(page, 'IMAP server')
  await page.keyboard.type('127.0.0.1')
  await tabTo(page, 'User')
  await page.keyboard.type(user)
  await tabTo(page, 'Password')
  await page.keyboard.type('secret')
  await tabTo(page, 'Port and security')
  await page.keyboard.press('Enter')
  await tabTo(page, 'Connection')
  await page.keyboard.press('ArrowDown')
  await tabTo(page, 'Port')
  await page.keyboard.type(String(port))
  await page.keyboard.press('Enter')
}

describe('a migration of somebody else', () => {
  it('is not there', async () => {
    const dora = await signedIn(browser, portreeve, 'Dora', 1440, { plan: 'pro' })
    const account = { host: '127.0.0.1', port: from.port, secure: false, user: 'alice', password: 'secret' }
    const data = { source: account, destination: account, folders: ['INBOX'], dryRun: true }
    const headers = { origin: portreeve.url }
    const made = await dora.page.request.post('/api/v1/imap/migrate', { data, headers })
    const { migrationId } = (await made.json()) as { migrationId: string }
    const { page, close } = await signedIn(browser, portreeve, 'Charlie')
    await page.goto(`/migrations/${migrationId}`)
    await page.getByText('There is no such migration.').waitFor()
    await page.goto('/migrations')
    await page.getByText('No mailbox was moved yet').waitFor()
    await close()
    await dora.close()
  })
})
