import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { startAllLists } from '../domains/check-with.ts'
import { raiseAlert } from '../../src/alerts/raise.ts'
import { openDatabase } from '../../src/store/database.ts'
import { startTestService, type TestService } from '../service.ts'
import { chooseDuration, faultsAtAllWidths, heading, signedIn, type Visit } from './browsing.ts'

let browser: Browser
let dns: DnsServer
let lists: Rbldnsd
let portreeve: TestService
let database: ReturnType<typeof openDatabase>
let alice: Visit
let page: Page

beforeAll(async () => {
  lists = await startAllLists()
  dns = await startDns({
    records: {
      'example.com NS': ['ns1.example.com'],
      'ns1.example.com A': ['127.0.0.1'],
      'example.com MX': ['0 .'],
      'example.com TXT': ['v=spf1 -all'],
      '_dmarc.example.com TXT': ['v=DMARC1; p=none; pct=50'],
    },
  })
  portreeve = await startTestService({
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${lists.port}`,
  })
  database = openDatabase(portreeve.databaseUrl)
  browser = await sharedChromium()
  alice = await signedIn(browser, portreeve, 'Alice')
  page = alice.page
})
afterAll(async () => {
  await closeContexts(browser)
  await database.close()
  await portreeve.stop()
  await lists.stop()
  await dns.close()
})

describe('a domain', () => {
  it('is checked from the overview, with one verdict and the mail path', async () => {
    await page.goto('/home')
    await page.getByLabel('Domain, IP address, URL or email address').fill('someone@Example.com')
    await page.keyboard.press('Enter')
    await heading(page, 'example.com').waitFor()
    await page.getByText(/^1 warning(, \d+ checks? without an answer)?\.$/).waitFor()
    await page.getByRole('list', { name: 'Mail path' }).getByText('Warning').waitFor()
  })

  it('shows the record to publish as a difference, which drops nothing silently', async () => {
    const diff = page.getByLabel('Publish this')
    // A domain without mail needs no policy on trial.
    expect(await diff.locator('del').allTextContents()).toEqual(['p=none;', 'pct=50'])
    expect(await diff.locator('ins').allTextContents()).toEqual(['p=reject'])
  })

  it('follows a copied record with the resolver where no name server answers', async () => {
    const before = dns.records['_dmarc.example.com TXT'] ?? []
    await page.getByRole('button', { name: 'Copy the record for _dmarc.example.com' }).click()
    await page.getByText('only the resolver is asked').waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    dns.records['_dmarc.example.com TXT'] = [copied]
    await page.getByText('It’s live. (We couldn’t ask your name servers directly.)').waitFor()
    dns.records['_dmarc.example.com TXT'] = before
  })

  it('is watched with one click, and is then listed with its state', async () => {
    await page.getByRole('button', { name: 'Watch this domain' }).click()
    await page.getByRole('button', { name: 'Stop watching' }).waitFor()
    await page.getByRole('link', { name: 'Domains', exact: true }).first().click()
    await page.getByRole('link', { name: 'example.com' }).waitFor()
  })

  it('is muted until a chosen time: its alerts are recorded, and not sent', async () => {
    await page.goto('/domains/example.com')
    await page.getByRole('button', { name: 'Mute alerts', exact: true }).click()
    const until = new Date(Date.now() + 10 * 86_400_000)
    // Swedish dates are those of ISO 8601.
    await chooseDuration(
      page,
      'Mute',
      'Until a date and time',
      `${until.toLocaleDateString('sv')}T13:14`,
    )
    await page.getByRole('button', { name: 'Unmute alerts' }).waitFor()
    const { id: workspaceId } = await database.db
      .selectFrom('workspace')
      .select('id')
      .executeTakeFirstOrThrow()
    await raiseAlert(database.db, {
      workspaceId,
      kind: 'domain.worse',
      key: 'domain.worse example.com',
      incident: 'domain/example.com',
      phase: 'open',
      severity: 'error',
      title: 'example.com needs attention',
      text: 'SPF is broken.',
      nextStep: '',
      path: '/domains/example.com',
      at: new Date(),
    })
    await page.goto('/alerts')
    const row = page.getByRole('row').filter({ hasText: 'example.com needs attention' })
    const day = until.toLocaleDateString('en-GB', {
      day: 'numeric',
      month: 'long',
      year: 'numeric',
    })
    await row.getByText(`until ${day} at 13:14`).waitFor()
    await page.getByRole('link', { name: 'History', exact: true }).click()
    await page.getByText('Not sent: muted').waitFor()
    await page.goto('/domains/example.com')
    await page.getByRole('button', { name: 'Unmute alerts' }).click()
    await page.getByRole('button', { name: 'Mute alerts', exact: true }).waitFor()
  })

  it('shows the last check at once while a new one runs', async () => {
    await page.goto('/domains/example.com')
    await page.getByText('19 of 19 checks done').waitFor({ state: 'hidden' })
    await page.getByText(/^1 warning/).waitFor()
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    await page.route('**/api/v1/domains/example.com/events', async (route) => {
      await held
      await route.continue()
    })
    await page.reload()
    await page.getByText(/^1 warning/).waitFor()
    await page.getByRole('progressbar').waitFor()
    expect(await page.getByRole('region', { name: 'MX' }).getByRole('listitem').count()).toBe(3)
    release()
    await page.getByRole('progressbar').waitFor({ state: 'hidden' })
    await page.unroute('**/api/v1/domains/example.com/events')
  })

  it('is shared as a report that opens without an account and prints on at most two pages', async () => {
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    await page.getByRole('button', { name: 'Create link' }).click()
    const link = await page.getByText(/\/shared\/[A-Za-z0-9]{24}$/).textContent()
    const stranger = await (await browser.newContext()).newPage()
    await stranger.goto(link ?? '')
    await heading(stranger, 'Check of example.com').waitFor()
    await stranger.getByText(/^1 warning/).waitFor()
    await stranger.getByRole('list', { name: 'Mail path' }).getByText('Warning').waitFor()
    expect(await stranger.getByLabel('Publish this').textContent()).toContain('pct=50')
    // A stranger cannot ask the name servers, and has nothing to copy.
    expect(await stranger.getByRole('button', { name: /Copy/ }).count()).toBe(0)
    const pdf = await stranger.pdf({ format: 'A4' })
    expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b(?!s)/g)?.length).toBeLessThanOrEqual(2)
    await stranger.context().close()
  })

  it('says that a name does not exist', async () => {
    await page.goto('/domains/nothing.invalid')
    await page
      .getByText(/nothing\.invalid/)
      .nth(1)
      .waitFor()
  })

  it('fits every width and is accessible', async () => {
    await page.goto('/domains/example.com')
    await page.getByText(/^1 warning/).waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
  })
})

describe('the list of domains', () => {
  it('has pages, and is filtered and ordered as a whole, as cards and as a table', async () => {
    await database.pool.query(
      `insert into watched_domain (workspace_id, domain, hosts, check_due_at)
       select id, 'customer' || n || '.test', '{}', now() + interval '1 day'
         from workspace, generate_series(1, 120) n`,
    )
    const card = (domain: string) => page.getByRole('link', { name: domain, exact: true })
    await page.goto('/domains')
    await card('customer1.test').waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await card('customer99.test').waitFor()
    expect(await card('customer1.test').count()).toBe(0)
    await page.getByLabel('Filter by domain, result or label').fill('customer7.test')
    await card('customer7.test').waitFor()
    expect(await page.getByRole('button', { name: 'Next' }).count()).toBe(0)
    await page.getByRole('radiogroup', { name: 'View' }).getByText('Table').click()
    await page.getByRole('row').filter({ hasText: 'customer7.test' }).waitFor()
    await page.getByLabel('Filter by domain, result or label').fill('')
    await page.getByRole('columnheader', { name: 'Domain' }).getByRole('button').click()
    await page.getByRole('columnheader', { name: 'Domain' }).getByRole('button').click()
    await page.getByRole('row').nth(1).filter({ hasText: 'example.com' }).waitFor()
    expect(new URL(page.url()).search).toContain('sort=-domain')
    expect(await faultsAtAllWidths(page)).toEqual([])
  })

  it('knows whether a domain of any page is watched', async () => {
    await page.goto('/domains/customer99.test')
    await page.getByRole('button', { name: 'Stop watching' }).waitFor()
  })
})
