import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startHouse, type House } from '../house.ts'
import { IP, startLists } from '../servers/blacklists.ts'
import { startChromium } from '../servers/chromium.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { signedIn } from './browsing.ts'

let browser: Browser
let dns: DnsServer
let lists: Rbldnsd
let house: House
let page: Page

beforeAll(async () => {
  const records = {
    'example.test A': ['192.0.2.10'],
    'example.test MX': ['10 mail.example.test'],
    'example.test NS': ['ns1.example.test', 'ns2.example.test'],
    'example.test TXT': ['v=spf1 mx -all'],
    '_dmarc.example.test TXT': ['v=DMARC1; p=reject'],
    'mail.example.test A': ['198.51.100.7'],
  }
  dns = await startDns({ records })
  lists = await startLists({ 'zen.spamhaus.org': { listed: { [IP]: '127.0.0.2 x' } } })
  house = await startHouse({ DNS_SERVERS: `127.0.0.1:${dns.port}`, DNSBL_SERVERS: `127.0.0.1:${lists.port}` })
  browser = await startChromium()
  page = (await signedIn(browser, house, 'Alice')).page
})
afterAll(async () => {
  await browser.close()
  await house.stop()
  await lists.stop()
  await dns.close()
})

const region = (name: string) => page.getByRole('region', { name })

describe('the check box', () => {
  it('checks a domain for everything at once, whatever way it was typed', async () => {
    await page.goto('/home')
    await page.getByLabel('Domain or IPv4 address').fill('https://Example.test/some/page')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Check of example.test' }).waitFor()
    await region('DNS records').getByText('10 mail.example.test').waitFor()
    await region('Mail protection').getByText('v=DMARC1; p=reject').first().waitFor()
    // 192.0.2.10 is no public address: the refusal is a sentence, beside what could be asked.
    await region('Certificate')
      .getByText(/192\.0\.2\.10|example\.test/)
      .first()
      .waitFor()
  })

  it('shows the same answer as a command and as JSON', async () => {
    await region('DNS records').getByText('For programs').click()
    await region('DNS records').getByText('"unicodeDomain": "example.test"').waitFor()
    await region('DNS records').getByText(`${house.url}/api/v1/dns-check?domain=example.test`).waitFor()
  })

  it('says that there is no such name', async () => {
    await page.goto('/check?q=nothing.invalid')
    await region('DNS records').getByText('There is no such name as nothing.invalid.').waitFor()
  })

  it('looks an address up on the blacklists, the listed ones first and the clean ones folded away', async () => {
    await page.getByLabel('Domain or IPv4 address').fill(IP)
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await region('Blacklists').getByText(`${IP} is listed on 1 of`).waitFor()
    await region('Blacklists')
      .getByRole('table', { name: 'Listed', exact: true })
      .getByText('zen.spamhaus.org')
      .waitFor()
    expect(await region('Blacklists').getByRole('table', { name: 'Not listed' }).isVisible()).toBe(false)
    await region('Blacklists')
      .getByText(/^Not listed: \d+ lists$/)
      .click()
    await region('Blacklists').getByRole('table', { name: 'Not listed' }).waitFor()
  })

  it('passes on what the service says about an address that nobody lists', async () => {
    await page.goto('/check?q=192.168.1.1')
    await region('Blacklists').getByText('“192.168.1.1” is').waitFor()
  })

  it('says what it takes when nothing can be made of the text', async () => {
    await page.getByLabel('Domain or IPv4 address').fill('hello there')
    await page.keyboard.press('Enter')
    await page.getByText('Type a domain such as example.com').waitFor()
  })
})
