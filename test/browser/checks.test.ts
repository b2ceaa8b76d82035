import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEST_PATH } from '../base-path.ts'
import { startTestService, type TestService } from '../service.ts'
import { IP, startLists } from '../servers/blacklists.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { startHolding, type Holding } from '../servers/holding.ts'
import { faultsAtAllWidths, signedIn, tabTo, visit } from './browsing.ts'

let browser: Browser
let dns: DnsServer
let lists: Rbldnsd
let holding: Holding
let portreeve: TestService
let page: Page

beforeAll(async () => {
  const records = {
    'example.test A': ['192.0.2.10'],
    'example.test MX': ['10 mail.example.test'],
    'example.test NS': ['ns1.example.test', 'ns2.example.test'],
    'example.test TXT': ['v=spf1 mx -all'],
    '_dmarc.example.test TXT': ['v=DMARC1; p=reject'],
    'mail.example.test A': ['198.51.100.7'],
    'broken.test A': ['8.8.4.4'],
    'broken.test MX': ['10 mail.example.test'],
    'broken.test TXT': ['v=spf1 mx'],
  }
  dns = await startDns({ records })
  lists = await startLists({ 'zen.spamhaus.org': { listed: { [IP]: '127.0.0.2 x' } } })
  holding = await startHolding(lists.port, 'spamcop')
  portreeve = await startTestService({
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${holding.port}`,
  })
  browser = await sharedChromium()
  page = (await signedIn(browser, portreeve, 'Alice')).page
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
  await holding.close()
  await lists.stop()
  await dns.close()
})

const region = (name: string) => page.getByRole('region', { name })

describe('the check box', () => {
  it('runs every check on a domain, also when a URL was typed', async () => {
    await page.goto('/check')
    await page
      .getByLabel('Domain, IP address, URL or email address')
      .fill('https://Example.test/some/page')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'example.test' }).waitFor()
    await page.getByRole('link', { name: 'Single checks' }).click()
    await page.getByRole('heading', { level: 1, name: 'Check of example.test' }).waitFor()
    await region('DNS records').getByText('10 mail.example.test').waitFor()
    await region('Email authentication').getByText('v=DMARC1; p=reject').first().waitFor()
    // 192.0.2.10 is not a public address: this check is refused, the others are not.
    await region('Certificate')
      .getByText(/192\.0\.2\.10|example\.test/)
      .first()
      .waitFor()
  })

  it('shows the same result as a command and as JSON', async () => {
    await region('DNS records').getByText('API', { exact: true }).click()
    await region('DNS records').getByText('"unicodeDomain": "example.test"').waitFor()
    await region('DNS records')
      .getByText(`${portreeve.url}${TEST_PATH}/api/v1/dns-check?domain=example.test`)
      .waitFor()
  })

  it('reports a name that does not exist', async () => {
    await page.goto('/check?q=nothing.invalid')
    await region('DNS records').getByText('nothing.invalid doesn’t exist (NXDOMAIN).').waitFor()
  })

  it('checks an address on all blocklists, shows listings first and collapses lists without one', async () => {
    await page.getByLabel('Domain, IP address, URL or email address').fill(IP)
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    // One list delays its response, so that the check is still running.
    await region('Blocklists')
      .getByText(/^\d+ of \d+ checked, 1 listing so far\.$/)
      .waitFor()
    await region('Blocklists')
      .getByRole('table', { name: 'Listed', exact: true })
      .getByText('zen.spamhaus.org')
      .waitFor()
    expect(await page.getByRole('button', { name: 'Share' }).isDisabled()).toBe(true)
    holding.release()
    await region('Blocklists').getByText(`${IP} is on 1 of`).waitFor()
    await region('Attack reports').getByText(`${IP} is not listed`).waitFor()
    await region('Blocklists')
      .getByRole('table', { name: 'Listed', exact: true })
      .getByText('zen.spamhaus.org')
      .waitFor()
    expect(await region('Blocklists').getByRole('table', { name: 'Not listed' }).isVisible()).toBe(
      false,
    )
    expect(await faultsAtAllWidths(page)).toEqual([])
    await region('Blocklists')
      .getByText(/^Not listed: \d+ blocklists$/)
      .click()
    await region('Blocklists').getByRole('table', { name: 'Not listed' }).waitFor()
  })

  it('shows the error of the service for a private address', async () => {
    const checks: string[] = []
    page.on('request', (request) => {
      if (request.url().includes('/blacklist-check')) checks.push(request.url())
    })
    await page.goto('/check?q=192.168.1.1')
    await page.waitForURL('**/addresses/192.168.1.1')
    await region('Blocklists').getByText('“192.168.1.1” is').waitFor()
    expect(checks).toHaveLength(1)
  })

  it('offers to monitor an IPv6 address, which it does not check', async () => {
    await page.goto('/addresses/2001:db8::1')
    await region('Blocklists').getByText('Monitor the address').waitFor()
    await page.getByRole('button', { name: 'Monitor this address' }).waitFor()
  })

  it('checks the certificate at a port', async () => {
    await page.goto('/check')
    await page.getByLabel('Domain, IP address, URL or email address').fill('example.test:993')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Check of example.test:993' }).waitFor()
    await region('Certificate')
      .getByText(/192\.0\.2\.10|example\.test/)
      .first()
      .waitFor()
    expect(await page.getByRole('region', { name: 'DNS records' }).count()).toBe(0)
  })

  it('explains what to enter when the text is not a target', async () => {
    await page.getByLabel('Domain, IP address, URL or email address').fill('hello there')
    await page.keyboard.press('Enter')
    await page.getByText('Enter a domain such as example.com').waitFor()
  })
})

describe('a warning', () => {
  it('shows the record to publish and copies it', async () => {
    await page.goto('/check?q=broken.test')
    await region('Email authentication').getByText('Publish as TXT at').first().waitFor()
    await region('Email authentication')
      .getByRole('button', { name: 'Copy the record for _dmarc.broken.test' })
      .click()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toMatch(/^v=DMARC1;/)
  })
})

describe('a result', () => {
  let link: string

  it('is shared by a link that opens without an account and shows the time of the check', async () => {
    const before = new Date().getDate()
    await page.goto('/check?q=broken.test')
    await region('DNS records').getByText('10 mail.example.test').waitFor()
    await page.locator('button:enabled', { hasText: 'Share' }).click()
    await page.getByRole('button', { name: 'Create link' }).click()
    await page.getByRole('button', { name: 'Delete link', exact: true }).click()
    await page.getByRole('button', { name: 'Create link' }).click()
    await page.getByRole('button', { name: 'Copy the link' }).click()
    link = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(link).toMatch(new RegExp(`^${portreeve.url}${TEST_PATH}/shared/[A-Za-z0-9]{24}$`))
    expect(await faultsAtAllWidths(page)).toEqual([])

    const stranger = await visit(browser, portreeve.url)
    const asked = dns.queries.length
    await stranger.page.goto(link)
    await stranger.page.getByRole('heading', { level: 1, name: 'Check of broken.test' }).waitFor()
    const days = `${before}|${new Date().getDate()}`
    await stranger.page.getByText(new RegExp(`Results as of (${days}) `)).waitFor()
    await stranger.page
      .getByText('No DMARC record: receivers don’t know how to treat spoofed mail.')
      .waitFor()
    await stranger.page
      .getByRole('region', { name: 'DNS records' })
      .getByText('10 mail.example.test')
      .waitFor()
    expect(await stranger.page.getByRole('button', { name: 'Check again' }).count()).toBe(0)
    expect(dns.queries.length).toBe(asked)
    expect(await faultsAtAllWidths(stranger.page)).toEqual([])
    expect(stranger.complaints).toEqual([])
    await stranger.close()
  })

  it('is printed with all sections expanded and without buttons', async () => {
    await page.goto(link)
    await region('DNS records').waitFor()
    await page.emulateMedia({ media: 'print' })
    const seen = await page.locator('body').innerText()
    expect(seen).toContain('Check of broken.test')
    expect(seen).not.toMatch(/Copy|^API$|API documentation/m)
    await page.goto(`/check?q=${IP}`)
    await region('Blocklists').getByText(`${IP} is on 1 of`).waitFor()
    await region('Blocklists')
      .getByRole('table', { name: 'Not listed' })
      .getByText('bl.spamcop.net')
      .waitFor()
    expect(await page.getByRole('navigation').first().isVisible()).toBe(false)
    await page.emulateMedia({ media: 'screen' })
  })

  it('is no longer shared after its link is deleted from the list', async () => {
    await page.goto('/check')
    await page
      .getByRole('region', { name: 'Shared results' })
      .getByText('broken.test')
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Delete link to broken.test' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete link' }).click()
    await page.getByRole('region', { name: 'Shared results' }).waitFor({ state: 'detached' })
    await page.goto(link)
    await page.getByText('Shared result not found').waitFor()
  })
})

describe('a checked target', () => {
  it('is monitored after a click on its button', async () => {
    await page.goto('/check?q=broken.test')
    await page.getByRole('button', { name: 'Monitor this host' }).click()
    await page.getByRole('heading', { level: 1, name: 'broken.test', exact: true }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'View monitored host' }).waitFor()
  })

  it('links to a new delisting when it is listed', async () => {
    await page.goto(`/check?q=${IP}`)
    await page.getByRole('link', { name: 'Start delisting' }).first().click()
    await page.waitForURL(`**/delisting/new?ip=*`)
    expect(page.url()).toContain(IP)
  })
})

describe('with the keyboard only', () => {
  it('a name is checked and the result shared', async () => {
    const { page: own, close } = await signedIn(browser, portreeve, 'Klara')
    await own.goto('/check')
    await own.getByRole('heading', { level: 1, name: 'Check' }).waitFor()
    await tabTo(own, 'Domain, IP address, URL or email address')
    await own.keyboard.type('broken.test:443')
    await own.keyboard.press('Enter')
    await own.locator('button:enabled', { hasText: 'Share' }).waitFor()
    await tabTo(own, 'Share')
    await own.keyboard.press('Enter')
    await tabTo(own, 'Create link')
    await own.keyboard.press('Enter')
    await own.getByText('Anyone with this link can see these results').waitFor()
    await close()
  })
})
