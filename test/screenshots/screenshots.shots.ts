import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, it } from 'vitest'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { enterDemo, startTestDemo, type TestDemo } from '../demo/demo.ts'

const FOLDER = join(import.meta.dirname, '../../docs/screenshots')
const PHONE = { width: 390, height: 844 }

let demo: TestDemo
let browser: Browser
beforeAll(async () => {
  demo = await startTestDemo()
  browser = await sharedChromium()
})
afterAll(async () => {
  await closeContexts(browser)
  await demo.stop()
})

/** Opens a page of the demo without its banner, signed in. */
async function openPage(height: number, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
  const context = await browser.newContext({
    baseURL: demo.url,
    viewport: { width: 1440, height },
    colorScheme,
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  await enterDemo(page)
  await page.route('**/*', async (route) => {
    if (route.request().resourceType() !== 'document') return route.continue()
    const response = await route.fetch()
    await route.fulfill({ response, body: (await response.text()).replace(' data-demo', '') })
  })
  return page
}

/** Takes the picture NAME.png, and with `alsoOnPhone` NAME-phone.png of the same page. */
async function capture(page: Page, name: string, { alsoOnPhone = false } = {}): Promise<void> {
  const take = (file: string) =>
    page.screenshot({ path: join(FOLDER, `${file}.png`), caret: 'hide' })
  // The picture shows no caret, hover or scroll bar.
  await page.mouse.move(0, 0)
  await take(name)
  if (alsoOnPhone) {
    await page.setViewportSize(PHONE)
    await page.evaluate('new Promise(requestAnimationFrame)')
    await take(`${name}-phone`)
  }
  await page.context().close()
}

it('the overview', async () => {
  const page = await openPage(900)
  await page.goto('/home')
  await page.getByText('Watched domains').first().waitFor()
  await page.getByText('Monitored hosts').first().waitFor()
  await capture(page, 'overview', { alsoOnPhone: true })
})

it('a check of an address', async () => {
  const page = await openPage(800)
  await page.goto('/check?q=203.0.113.40')
  await page.getByText('bl.spamcop.net').first().waitFor()
  await capture(page, 'check')
})

it('the DMARC summary of a domain', async () => {
  const page = await openPage(900)
  await page.goto('/dmarc')
  await page.getByRole('link', { name: 'seagull.example', exact: true }).first().click()
  await page.getByRole('heading', { name: 'Messages per day' }).waitFor()
  await capture(page, 'dmarc')
})

it('captured webhooks', async () => {
  const page = await openPage(800, 'dark')
  await page.goto('/hooks')
  await page.getByRole('link', { name: 'GitHub: seagull/shop' }).first().click()
  await page.getByText('repository').first().waitFor()
  await capture(page, 'webhooks', { alsoOnPhone: true })
})

it('a migration', async () => {
  const page = await openPage(900)
  await page.goto('/migrations')
  await page
    .getByRole('link', { name: /anna@seagull\.example/ })
    .first()
    .click()
  await page.getByRole('heading', { name: 'Throughput' }).waitFor()
  await capture(page, 'migration', { alsoOnPhone: true })
})
