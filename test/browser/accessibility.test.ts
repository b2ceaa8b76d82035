import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startHouse, type House } from '../house.ts'
import { startChromium } from '../servers/chromium.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { accessibilityFaults, overflow, signedIn, visit } from './browsing.ts'

const WIDTHS = [320, 768, 1440]
/** Milliseconds: axe takes its time, twice for each screen. */
const PATIENCE = 60_000

let browser: Browser
let dns: DnsServer
let house: House
beforeAll(async () => {
  dns = await startDns({ records: { 'example.test A': ['192.0.2.10'], 'example.test NS': ['ns1.example.test'] } })
  house = await startHouse({ DNS_SERVERS: `127.0.0.1:${dns.port}`, DNSBL_SERVERS: `127.0.0.1:${dns.port}` })
  browser = await startChromium()
})
afterAll(async () => {
  await browser.close()
  await house.stop()
  await dns.close()
})

async function expectFaultless(page: Page, path: string, heading: string): Promise<void> {
  await page.goto(path)
  await page.getByRole('heading', { level: 1, name: heading }).waitFor()
  await page.waitForLoadState('networkidle')
  expect({ path, faults: await accessibilityFaults(page), overflow: await overflow(page) }).toEqual({
    path,
    faults: [],
    overflow: 0,
  })
}

// Before anybody signs in below: the set-up screen is there as long as there is no account.
describe.each(WIDTHS)('at %i pixels, in both themes', (width) => {
  it('the screens for everybody meet WCAG 2.2 AA and never scroll sideways', { timeout: PATIENCE }, async () => {
    const { page, complaints, close } = await visit(browser, house.url, width)
    await expectFaultless(page, '/', 'Keep your mail')
    await expectFaultless(page, '/setup', 'Make the first account')
    await page.goto('about:blank')
    await expectFaultless(page, '/setup#token', 'Make the first account')
    await page.getByRole('button', { name: 'Make the account' }).click()
    expect(await accessibilityFaults(page)).toEqual([])
    await expectFaultless(page, '/sign-in', 'Sign in')
    await expectFaultless(page, '/nothing/here', 'There is nothing here')
    expect(complaints).toEqual([])
    await close()
  })
})

describe.each(WIDTHS)('signed in, at %i pixels, in both themes', (width) => {
  it('the screens of one’s own meet WCAG 2.2 AA and never scroll sideways', { timeout: PATIENCE }, async () => {
    const { page, complaints, close } = await signedIn(browser, house, `Alice${width}`, width)
    await expectFaultless(page, '/home', 'Good to see you')
    await expectFaultless(page, '/check', 'Check')
    await expectFaultless(page, '/account', 'Account')
    await expectFaultless(page, '/tokens', 'API tokens')
    await page.getByRole('button', { name: 'Make a token' }).click()
    await page.getByText('The token is made').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.getByRole('button', { name: 'Revoke tests' }).click()
    await page.getByRole('dialog').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(complaints).toEqual([])

    await page.keyboard.press('Escape')
    await page.goto('/check?q=example.test')
    await page.getByText('The name resolves').waitFor()
    await page.getByText('For programs').last().click()
    expect([await accessibilityFaults(page), await overflow(page)]).toEqual([[], 0])
    await close()
  })
})

describe('with the keyboard alone', () => {
  it('the first stop leads past the navigation to the content', async () => {
    const { page, close } = await signedIn(browser, house, 'Bob')
    await page.goto('/tokens')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.name')).toBe('label')
    await close()
  })

  it('a new screen takes the focus to its heading', async () => {
    const { page, close } = await signedIn(browser, house, 'Charlie')
    await page.goto('/home')
    await page.getByRole('link', { name: 'Account', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Account')
    expect(await page.title()).toBe('Account · Portreeve')
    await close()
  })
})
