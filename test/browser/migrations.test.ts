import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedService, type TestService } from '../service.ts'
import { accountOn, contents, fill, inside, mail, read } from '../migration/mailbox.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startProxy, type Proxy } from '../servers/proxy.ts'
import { startTokens } from '../servers/tokens.ts'
import { faultsAtAllWidths, heading, signedIn, tabTo, untilLoaded, type Visit } from './browsing.ts'

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
  portreeve = await sharedService()
  browser = await sharedChromium()
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
  await slow.close()
  await Promise.all([from, to, picky].map((server) => server.stop()))
})

type Account = { port: number; user: string; password?: string }

async function fillAccount(
  page: Page,
  { password = 'secret', ...account }: Account,
): Promise<void> {
  await page.getByLabel('Password', { exact: true }).fill(password)
  await fillServer(page, account)
}

async function fillServer(page: Page, { port, user }: Account): Promise<void> {
  await page.getByLabel('IMAP server').fill('127.0.0.1')
  await page.getByLabel('User name').fill(user)
  if (!(await page.getByLabel('Connection security').isVisible()))
    await page.getByText('Port and security').click()
  await page.getByLabel('Connection security').selectOption('STARTTLS')
  await page.getByLabel('Port', { exact: true }).fill(String(port))
}

/** From the first step to the last. */
async function comeToReview(
  page: Page,
  destination: Account,
  source: Account = { port: from.port, user: 'alice' },
) {
  await page.goto('/migrations/new')
  await fillAccount(page, source)
  await page.getByRole('button', { name: 'Test and list folders' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await fillAccount(page, destination)
  await page.getByRole('button', { name: 'Test connection' }).click()
  await page.getByRole('button', { name: 'Start migration' }).waitFor()
}

/** A sequence: each step continues the one before. */
describe('a user who migrates a mailbox', () => {
  let alice: Visit
  let page: Page
  beforeAll(async () => {
    await to.addUser('alice', 'secret')
    alice = await signedIn(browser, portreeve, 'Alice')
    page = alice.page
  })
  afterAll(() => alice.close())

  it('sees the limit of the plan, and the command for a terminal', async () => {
    await page.goto('/migrations')
    await page.getByText('No migrations yet').waitFor()
    await page.getByText('0 of 1 migration this month on the free plan').waitFor()
    await page.getByRole('link', { name: 'New migration' }).click()
    await heading(page, 'New migration').waitFor()
  })

  it('sees the result of a connection test: no server, or the server’s response', async () => {
    await page.getByRole('button', { name: 'Test and list folders' }).click()
    await page.getByText('Enter the name of the server').waitFor()
    await fillAccount(page, { port: 1, user: 'alice' })
    await page.getByRole('button', { name: 'Test and list folders' }).click()
    await page.getByRole('alert').getByText('127.0.0.1').waitFor()
    await fillAccount(page, { port: from.port, user: 'alice', password: 'wrong' })
    await page.getByRole('button', { name: 'Test and list folders' }).click()
    await page.getByText('The server said: “NO [AUTHENTICATIONFAILED]').waitFor()
  })

  it('selects folders by their messages', async () => {
    await page.getByLabel('Password', { exact: true }).fill('secret')
    await page.getByRole('button', { name: 'Test and list folders' }).click()
    await page.getByText('3 folders, 17 messages').first().waitFor()
    await page.getByLabel('Sent').uncheck()
    await page.getByText('2 folders, 15 messages').first().waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page.getByRole('button', { name: 'Select none' }).click()
    expect(await page.getByRole('button', { name: 'Continue' }).isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Select all', exact: true }).click()
    await page.getByRole('button', { name: 'Continue' }).click()
  })

  it('tests the destination, and goes back without losing what was entered', async () => {
    await fillAccount(page, { port: to.port, user: 'alice', password: 'wrong' })
    await page.getByRole('button', { name: 'Test connection' }).click()
    await page.getByText('refused the user name or password').waitFor()
    await page.getByRole('button', { name: 'Folders (change)' }).click()
    await page.getByText('3 folders, 17 messages').first().waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    await fillAccount(page, { port: to.port, user: 'alice' })
    await page.getByRole('button', { name: 'Test connection' }).click()
    await page.getByRole('button', { name: 'Start migration' }).waitFor()
  })

  it('sees destinations and sizes in a dry run', async () => {
    await page.getByLabel('Parent folder (optional)').fill('Old')
    await page.getByRole('button', { name: 'Start dry run' }).click()
    await page.getByText('Ready to copy').waitFor()
    await page.getByPlaceholder('Old/Archive/2024').waitFor()
    await page.getByRole('row', { name: /^Sent.*bytes|^Sent.*kB/ }).waitFor()
    await page.getByLabel('Destination of Sent').fill('Gesendet')
    await page.getByText('The options changed after this dry run.').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    expect((await read(accountOn(to.port)))['INBOX']).toEqual([])
  })

  it('starts the migration, follows it, and sees that every message was copied', async () => {
    await page.getByRole('button', { name: 'Start migration' }).click()
    await heading(page, 'Migration of alice').waitFor()
    await page.getByText('All 17 messages are copied and verified.').waitFor()
    await page.getByRole('row', { name: 'Sent to Gesendet 2 of 2' }).waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    const [there, here] = [await read(accountOn(from.port)), await read(accountOn(to.port))]
    expect(contents(here['Old/INBOX'])).toEqual(contents(there['INBOX']))
    expect(contents(here['Gesendet'])).toEqual(contents(there['Sent']))
  })

  it('finds it in the list, with the month’s limit reached', async () => {
    await page.getByRole('link', { name: 'Migrations' }).first().click()
    await page.getByRole('row', { name: '17 of 17 messages Completed' }).waitFor()
    await page.getByRole('row', { name: 'dry run 17 messages Checked' }).waitFor()
    await page.getByText('No migrations left this month').waitFor()
  })

  it('leaves no password in a URL, page or storage', async () => {
    for (const path of ['/migrations', page.url()]) {
      await page.goto(path)
      await page.getByRole('row', { name: '17 of 17 messages Completed' }).waitFor()
      await untilLoaded(page)
      const kept = await page.evaluate<string>(
        'JSON.stringify([location, { ...localStorage }, { ...sessionStorage }])',
      )
      expect(kept + (await page.content())).not.toContain('secret')
    }
  })

  it('causes no browser errors except for failed connection tests', () => {
    expect(alice.complaints.filter((complaint) => !/status of (422|502)/.test(complaint))).toEqual(
      [],
    )
  })
})

describe('a migration that is stopped', () => {
  it('keeps copied messages, and resumes after the passwords are entered again', async () => {
    await to.addUser('bob', 'secret')
    const { page, close } = await signedIn(browser, portreeve, 'Bob', 1440, { plan: 'pro' })
    await comeToReview(page, { port: slow.port, user: 'bob' })
    await page.getByRole('button', { name: 'Start migration' }).click()
    await page.getByText('Live', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Stop this migration' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Stopped after').waitFor()

    slow.roundTrip = 0
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('Enter the password.').first().waitFor()
    await page.getByLabel('Source: password').fill('secret')
    await page.getByLabel('Destination: password').fill('secret')
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('All 17 messages are copied and verified.').waitFor()
    expect((await read(accountOn(to.port, 'bob')))['INBOX']).toHaveLength(12)
    await close()
  })
})

describe('a migration with a rejected message', () => {
  it('shows the message and the error, and offers a retry', async () => {
    await from.addUser('big', 'secret')
    await picky.addUser('big', 'secret')
    await fill(accountOn(from.port, 'big'), { INBOX: [{}, { body: mail(300_000) }, {}] })
    const { page, close } = await signedIn(browser, portreeve, 'Emil', 1440, { plan: 'pro' })
    await comeToReview(page, { port: picky.port, user: 'big' }, { port: from.port, user: 'big' })
    await page.getByRole('button', { name: 'Start migration' }).click()
    await page.getByText('Completed with 1 error').waitFor()
    await page.getByRole('row', { name: /INBOX message 2 · .*@example\.org.* · 30\d kB/ }).waitFor()
    await page.getByLabel('Source: password').waitFor()
    await close()
  })
})

describe('a synchronization at whose source most messages disappeared', () => {
  it('deletes their copies once a person has confirmed it', async () => {
    for (const server of [from, to]) await server.addUser('sync', 'secret')
    await fill(accountOn(from.port, 'sync'), { INBOX: [{}, {}, {}, {}] })
    const { page, complaints, close } = await signedIn(browser, portreeve, 'Sven', 1440, {
      plan: 'pro',
    })
    const side = ({ port }: MailServer) => {
      return { host: '127.0.0.1', port, secure: false, user: 'sync', password: 'secret' }
    }
    const sync = { everyMinutes: 30, deletions: 'apply' }
    const headers = { origin: portreeve.url }
    const made = await page.request.post('/api/v1/imap/migrate', {
      data: { source: side(from), destination: side(to), folders: ['INBOX'], sync },
      headers,
    })
    const { migrationId } = (await made.json()) as { migrationId: string }
    await page.goto(`/migrations/${migrationId}`)
    await page.getByText('All 4 messages are copied and verified.').waitFor()
    await inside(accountOn(from.port, 'sync'), async ({ wire }) => {
      for (const command of ['SELECT INBOX', 'UID STORE 1:3 +FLAGS (\\Deleted)', 'EXPUNGE'])
        await wire.run([command])
    })
    await page.request.put(`/api/v1/imap/migrate/${migrationId}/sync`, { data: sync, headers })
    await page.getByText('3 copies: more than half of a folder disappeared at once').waitFor()
    await page.getByText('The only message is copied and verified.').waitFor()
    const button = page.getByRole('button', { name: 'Delete copies' })
    await button.click()
    const dialog = page.getByRole('dialog', { name: 'Delete these copies?' })
    await dialog.getByText('3 messages disappeared from the source at once.').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect((await read(accountOn(to.port, 'sync')))['INBOX']).toHaveLength(4)
    await button.click()
    await dialog.getByRole('button', { name: 'Delete copies' }).click()
    await page.getByText('3 copies deleted').waitFor()
    expect(await button.count()).toBe(0)
    expect((await read(accountOn(to.port, 'sync')))['INBOX']).toHaveLength(1)
    expect(complaints).toEqual([])
    await close()
  })
})

describe('an account with access tokens', () => {
  it('is migrated with one, and retried with another after it expired', async () => {
    const tokens = await startTokens()
    const modern = await startDovecot({ tokensAt: tokens.url })
    await modern.addUser('alice', 'secret')
    tokens.valid.set('the-first-token', 'alice')
    const { page, close } = await signedIn(browser, portreeve, 'Tom', 1440, { plan: 'pro' })
    await page.goto('/migrations/new')
    await fillAccount(page, { port: from.port, user: 'alice' })
    await page.getByRole('button', { name: 'Test and list folders' }).click()
    await page.getByRole('button', { name: 'Continue' }).click()

    await page.getByRole('button', { name: 'Use an access token instead' }).click()
    expect(await page.evaluate('document.activeElement.name')).toBe('accessToken')
    await page.getByText('Most tokens are valid for an hour').waitFor()
    await page.getByRole('button', { name: 'Use the password instead' }).click()
    await page.getByRole('button', { name: 'Use an access token instead' }).click()
    await fillServer(page, { port: modern.port, user: 'alice' })
    await page.getByRole('button', { name: 'Test connection' }).click()
    await page.getByText('Enter the access token.').waitFor()
    await page.getByLabel('Access token', { exact: true }).fill('the-first-token\n')
    await page.getByRole('button', { name: 'Test connection' }).click()
    await page.getByRole('button', { name: 'Start migration' }).waitFor()

    tokens.valid.delete('the-first-token')
    await page.getByRole('button', { name: 'Start migration' }).click()
    await page.getByRole('button', { name: 'Retry' }).waitFor()
    tokens.valid.set('the-second-token', 'alice')
    await page.getByLabel('Source: password').fill('secret')
    await page.getByRole('button', { name: 'Use an access token instead' }).last().click()
    await page.getByLabel('Destination: access token').fill('the-second-token')
    await page.getByRole('button', { name: 'Retry' }).click()
    await page.getByText('All 17 messages are copied and verified.').waitFor()
    expect((await read(accountOn(modern.port)))['INBOX']).toHaveLength(12)
    await close()
    await modern.stop()
    await tokens.close()
  })
})

describe('with the keyboard alone', () => {
  it('a mailbox is migrated from the first field to the verdict', async () => {
    await to.addUser('klara', 'secret')
    const { page, close } = await signedIn(browser, portreeve, 'Klara', 1440, { plan: 'pro' })
    await page.goto('/migrations')
    await heading(page, 'Migrations').waitFor()
    await tabTo(page, 'New migration')
    await page.keyboard.press('Enter')
    await heading(page, 'New migration').waitFor()
    await typeAccount(page, from.port, 'alice')
    await page.getByText('Folders to copy').waitFor()
    await tabTo(page, 'Archive/2024')
    await page.keyboard.press('Space')
    await tabTo(page, 'Continue')
    await page.keyboard.press('Enter')
    await page.getByText('Destination mailbox').waitFor()
    await typeAccount(page, to.port, 'klara')
    await page.getByText('Options').waitFor()
    await tabTo(page, 'Start migration')
    await page.keyboard.press('Enter')
    await page.getByText('All 14 messages are copied and verified.').waitFor()
    await close()
  })
})

async function typeAccount(page: Page, port: number, user: string): Promise<void> {
  await tabTo(page, 'IMAP server')
  await page.keyboard.type('127.0.0.1')
  await tabTo(page, 'User name')
  await page.keyboard.type(user)
  await tabTo(page, 'Password')
  await page.keyboard.type('secret')
  await tabTo(page, 'Port and security')
  await page.keyboard.press('Enter')
  await tabTo(page, 'Connection security')
  await page.keyboard.press('ArrowDown')
  await tabTo(page, 'Port')
  await page.keyboard.type(String(port))
  await page.keyboard.press('Enter')
}

describe('a migration of another account', () => {
  it('is not found', async () => {
    const dora = await signedIn(browser, portreeve, 'Dora', 1440, { plan: 'pro' })
    const account = {
      host: '127.0.0.1',
      port: from.port,
      secure: false,
      user: 'alice',
      password: 'secret',
    }
    const data = { source: account, destination: account, folders: ['INBOX'], dryRun: true }
    const headers = { origin: portreeve.url }
    const made = await dora.page.request.post('/api/v1/imap/migrate', { data, headers })
    const { migrationId } = (await made.json()) as { migrationId: string }
    const { page, close } = await signedIn(browser, portreeve, 'Charlie')
    await page.goto(`/migrations/${migrationId}`)
    await page.getByText('The migration was not found.').waitFor()
    await page.goto('/migrations')
    await page.getByText('No migrations yet').waitFor()
    await close()
    await dora.close()
  })
})
