import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEST_PATH } from '../base-path.ts'
import { startTestService, type TestService } from '../service.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { changed, heading, signedIn, tabTo, untilLoaded, visit, type Visit } from './browsing.ts'

let browser: Browser
let dns: DnsServer
let portreeve: TestService
beforeAll(async () => {
  dns = await startDns({
    records: {
      'alpha.test A': ['127.0.0.1'],
      'alpha.test MX': ['0 .'],
      'alpha.test TXT': ['v=spf1 -all'],
      '_dmarc.alpha.test TXT': ['v=DMARC1; p=reject'],
      'zulu.test A': ['127.0.0.1'],
      '. NS': ['a.root-servers.test'],
      'people.test MX': ['0 .'],
    },
  })
  portreeve = await startTestService({
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${dns.port}`,
  })
  browser = await sharedChromium()
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
  await dns.close()
})

describe('the overview', () => {
  const post = async (path: string, data: object = {}) => {
    const answer = await page.request.post(path, { data, headers: { origin: portreeve.url } })
    expect([path, answer.ok()]).toEqual([path, true])
  }
  let alice: Visit
  let page: Page
  beforeAll(async () => {
    alice = await signedIn(browser, portreeve, 'Alice', 1440, { plan: 'pro' })
    page = alice.page
  })
  afterAll(() => alice.close())

  it('starts with first steps, of which the first checks the domain of the user', async () => {
    await page.goto('/home')
    await heading(page, 'Good to see you, Alice').waitFor()
    await page.getByRole('link', { name: 'Add an endpoint' }).waitFor()
    await page.getByRole('link', { name: 'Check people.test' }).click()
    await heading(page, 'people.test').waitFor()
  })

  it('needs one request for its contents', async () => {
    const paths = new Set<string>()
    page.on('request', (request) => {
      const { pathname: full, search } = new URL(request.url())
      const pathname = full.slice(TEST_PATH.length)
      if (pathname.startsWith('/api/')) paths.add(pathname + search)
    })
    const requestsOfALoad = async () => {
      paths.clear()
      await page.goto('/home')
      await page.getByRole('link', { name: 'Add an endpoint' }).waitFor()
      await untilLoaded(page)
      return [...paths].filter((path) => !path.startsWith('/api/v1/events')).toSorted()
    }
    // The stream begins with the changes of the last five seconds, as of the new account, and a page
    // that is loading for seconds asks again for what may have changed.
    await expect
      .poll(requestsOfALoad, { interval: 2_000, timeout: 60_000 })
      .toEqual(['/api/v1/account', '/api/v1/overview'])
    page.removeAllListeners('request')
  })

  it('lists problems with links to their screens', async () => {
    const account = { host: '127.0.0.1', port: 1, user: 'old.mailbox', password: 'x' }
    const data = { source: account, destination: account, folders: ['INBOX'] }
    await page.request.post('/api/v1/imap/migrate', { data, headers: { origin: portreeve.url } })
    await page.goto('/home')
    await heading(page, '1 problem needs your attention').waitFor()
    await page.getByText('Migration of old.mailbox failed with 1 error.').waitFor()
    await page.getByRole('link', { name: 'Review migration' }).click()
    await heading(page, 'Migration of old.mailbox').waitFor()
  })

  it('opens a problem with the keyboard alone', async () => {
    await page.goto('/home')
    await page.getByRole('link', { name: 'Review migration' }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await heading(page, 'Migration of old.mailbox').waitFor()
  })

  it('shows watched domains with their mail path and hosts with their days, problems first', async () => {
    await post('/api/v1/domains/alpha.test/watch')
    await post('/api/v1/domains/zulu.test/watch')
    await page.request.get('/api/v1/domains/zulu.test')
    await page.goto('/home')
    const domains = page.getByRole('region', { name: 'Watched domains' }).getByRole('heading')
    // The heading of the section comes first. The other domain has less to mend, or is not checked yet.
    await expect.poll(() => domains.nth(1).textContent()).toBe('zulu.test')
    const path = page.getByRole('list', { name: 'Mail path' }).first().getByRole('listitem')
    expect(await path.count()).toBe(5)
    await page.getByRole('region', { name: 'Monitored hosts' }).waitFor()
    await page
      .getByRole('img', { name: /^\d+ days?:/ })
      .first()
      .waitFor()
    await page.getByRole('link', { name: 'alpha.test' }).first().click()
    await page.waitForURL('**/domains/alpha.test')
  })

  it('has its rail beside the cards on a wide screen, and below them on others', async () => {
    await page.goto('/home')
    const cards = page.getByRole('region', { name: 'Watched domains' })
    const activity = page.getByRole('region', { name: 'Recent activity' })
    const places = async (width: number) => {
      await page.setViewportSize({ width, height: 900 })
      const [one, other] = [await cards.boundingBox(), await activity.boundingBox()]
      if (!one || !other) throw new Error('The overview is not shown.')
      return { isBeside: other.x >= one.x + one.width, isBelow: other.y >= one.y + one.height }
    }
    expect(await places(1440)).toEqual({ isBeside: true, isBelow: false })
    expect(await places(1199)).toEqual({ isBeside: false, isBelow: true })
    expect(await places(390)).toEqual({ isBeside: false, isBelow: true })
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  it('has no first steps left once each was taken', async () => {
    await page.getByText(/^First steps: \d of 7 done$/).waitFor()
    await post('/api/v1/dmarc/domains', { domain: 'people.test' })
    await post('/api/v1/mail-tests')
    await post('/api/webhook/endpoints')
    await post('/api/v1/abuse/tokens', { label: 'mail-1' })
    await page.goto('/home')
    await page.getByRole('region', { name: 'Recent activity' }).waitFor()
    await untilLoaded(page)
    expect(await page.getByText(/First steps/).count()).toBe(0)
  })

  it('hides it from other accounts', async () => {
    const charlie = await signedIn(browser, portreeve, 'Charlie')
    await charlie.page.goto('/home')
    await heading(charlie.page, 'Good to see you, Charlie').waitFor()
    expect(await charlie.page.content()).not.toContain('old.mailbox')
    await charlie.close()
  })

  it('causes no browser errors', () => expect(alice.complaints).toEqual([]))
})

describe('the account', () => {
  it('changes its name and its password, and ends other sessions', async () => {
    const { page, close } = await signedIn(browser, portreeve, 'Petra')
    const other = await visit(browser, portreeve.url)
    await other.page.goto('/sign-in')
    await other.page.getByLabel('Email').fill('petra@people.test')
    await other.page.getByLabel('Password', { exact: true }).fill('the password of Petra')
    await other.page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await other.page.getByRole('link', { name: 'Overview' }).waitFor()

    await page.goto('/account')
    await page.getByText('free · 0 of 1 migration used this month').waitFor()
    await page.getByRole('button', { name: 'End session of Chrome on Linux' }).waitFor()
    await page.getByLabel('Your name').fill('Petra Petersen')
    await page.getByRole('button', { name: 'Save name' }).click()
    await page.getByText('Name saved.').waitFor()
    await page.getByText('Petra Petersen', { exact: true }).waitFor()

    await page.getByLabel('Current password').fill('not the password')
    await page.getByLabel('New password', { exact: true }).fill('another password')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('The current password is wrong.').waitFor()
    await page.getByLabel('Current password').fill('the password of Petra')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Password changed.').waitFor()
    await page
      .getByRole('button', { name: 'End session of Chrome on Linux' })
      .waitFor({ state: 'hidden' })

    await other.page.goto('/tokens')
    await heading(other.page, 'Sign in').waitFor()
    await other.close()
    await close()
  })
})

describe('the data of an account', () => {
  it('is exported as a file', async () => {
    const { page, close } = await signedIn(browser, portreeve, 'Olga')
    await page.goto('/account')
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export my data' }).click(),
    ])
    expect(download.suggestedFilename()).toBe('portreeve-account.ndjson')
    const lines = readFileSync(await download.path(), 'utf8')
      .trim()
      .split('\n')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(
      expect.objectContaining({
        table: 'account',
        row: expect.objectContaining({ email: 'olga@people.test' }),
      }),
    )
    await close()
  })

  it('is deleted with the keyboard alone, after email and password', async () => {
    const { page, close } = await signedIn(browser, portreeve, 'Erika')
    await page.goto('/account')
    await page.getByText('in use now').first().waitFor()
    await tabTo(page, 'Delete account')
    await page.keyboard.press('Enter')
    await page.getByText('Your alerts, alert channels and sessions.').waitFor()
    await tabTo(page, 'Your email, to confirm')
    await page.keyboard.type('somebody@else.test')
    await page.keyboard.press('Enter')
    await page.getByText('Enter erika@people.test to confirm.').waitFor()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('erika@people.test')
    await tabTo(page, 'Your password')
    await page.keyboard.type('not the password')
    await page.keyboard.press('Enter')
    await page.getByText('This is not your password.').waitFor()
    await page.getByLabel('Your password', { exact: true }).press('ControlOrMeta+a')
    await page.keyboard.type('the password of Erika')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${portreeve.url}/`)
    await page.goto('/account')
    await heading(page, 'Sign in').waitFor()
    await close()
  })
})

describe('an administrator', () => {
  let admin: Visit
  let page: Page
  beforeAll(async () => {
    admin = await signedIn(browser, portreeve, 'Ada', 1440, { admin: true })
    page = admin.page
  })
  afterAll(() => admin.close())

  it('sees the health of the service, and how to fix problems', async () => {
    await page.goto('/home')
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.getByRole('link', { name: 'Health', exact: true }).click()
    await page.getByText('1 check failed.').waitFor()
    await page.getByRole('row', { name: /^Blacklists Error .*DNSBL_SERVERS/ }).waitFor()
    await page.getByText('idle job types').click()
    await page.getByText('migration.run').waitFor()
  })

  it('creates an account with the keyboard alone', async () => {
    await page.getByRole('link', { name: 'Accounts', exact: true }).click()
    await heading(page, 'Accounts').waitFor()
    await tabTo(page, 'Email')
    await page.keyboard.type('newcomer@people.test')
    await tabTo(page, 'Initial password')
    await page.keyboard.type('short')
    await page.keyboard.press('Enter')
    await page.getByText('Use at least 10 characters.').waitFor()
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('a long password')
    await page.keyboard.press('Enter')
    await page.getByText('newcomer@people.test can sign in now.').waitFor()
  })

  it('changes plan and role in place, and deletes an account', async () => {
    const row = page.getByRole('row', { name: 'newcomer@people.test' })
    const plan = row.getByLabel('Plan for newcomer@people.test')
    await Promise.all([changed(page), plan.selectOption('business')])
    await Promise.all([changed(page), row.getByRole('switch').click()])
    await page.reload()
    await row.waitFor()
    expect([await plan.inputValue(), await row.getByRole('switch').isChecked()]).toEqual([
      'business',
      true,
    ])
    await row.getByRole('checkbox', { name: 'Select newcomer@people.test' }).check()
    await page.getByRole('button', { name: 'Delete for 1 selected row' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await row.waitFor({ state: 'hidden' })
  })

  it('searches the audit log', async () => {
    await page.getByRole('link', { name: 'Administrator actions', exact: true }).click()
    await page.getByText('4 entries').waitFor()
    await page.getByLabel('Email, action or value').fill('delete')
    await page.getByText('1 entry', { exact: true }).waitFor()
    await page.getByRole('row', { name: /newcomer@people\.test .*ada@people\.test/ }).waitFor()
    await page.getByText('Details', { exact: true }).click()
    await page.getByText(/^account: newcomer@people\.test$/).waitFor()
    expect(page.url()).toContain('q=delete')
    await page.getByTitle('Show only the actions of ada@people.test').first().click()
    await page.getByRole('button', { name: /^by ada@people.test/ }).waitFor()
    expect(page.url()).toContain('actor=ada%40people.test')
    const file = page.waitForEvent('download')
    await page.getByRole('button', { name: /CSV/ }).click()
    expect((await file).suggestedFilename()).toBe('audit-log.csv')
    await page.getByRole('button', { name: /^by ada@people.test/ }).click()
    await page.getByLabel('Email, action or value').fill('nobody at all')
    await page.getByText('No matches').first().waitFor()
    await page.getByRole('link', { name: 'Accounts', exact: true }).click()
  })

  it('cannot delete the last administrator', async () => {
    await page.goto('/account')
    await page.getByText('Delete account').click()
    await page.getByLabel('Your email, to confirm').fill('ada@people.test')
    await page.getByLabel('Your password', { exact: true }).fill('the password of Ada')
    await page.getByRole('button', { name: 'Delete my account' }).click()
    await page.getByText('This is the last administrator.').waitFor()
    await page.goto('/administration/accounts')
  })

  it('sees a rejected change reverted: one administrator must remain', async () => {
    const mine = page.getByRole('row', { name: 'ada@people.test' }).getByRole('switch')
    await mine.click()
    await page.getByText('This is the last administrator.').waitFor()
    expect(await mine.isChecked()).toBe(true)
  })

  it('is the only one who sees the administration', async () => {
    const { page: theirs, close } = await signedIn(browser, portreeve, 'Bob')
    await theirs.goto('/administration/accounts')
    await theirs.getByText('administrator').first().waitFor()
    expect(await theirs.content()).not.toContain('ada@people.test')
    expect(await theirs.getByRole('link', { name: 'Health', exact: true }).count()).toBe(0)
    await close()
  })
})
