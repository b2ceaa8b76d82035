import { mkdirSync } from 'node:fs'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { faultsAtAllWidths, overflow, signIn, untilLoaded, visit, type Visit } from './browsing.ts'
import { fillCharts, type ChartData } from './chart-data.ts'

let browser: Browser
let portreeve: TestService
let anna: Person
let data: ChartData
let cookies: Cookies
let desktop: Visit
let phone: Visit
beforeAll(async () => {
  portreeve = await startTestService()
  anna = await portreeve.addPerson('Anna', { plan: 'enterprise' })
  data = await fillCharts(portreeve, anna)
  browser = await sharedChromium()
  desktop = await visit(browser, portreeve.url)
  await signIn(desktop, portreeve, anna)
  cookies = await desktop.page.context().cookies()
  phone = await visit(browser, portreeve.url, 390)
  await phone.page.context().addCookies(cookies)
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
})

type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>

/** Opens a screen of Anna’s, with the mouse beside it and no browser messages yet. */
async function open(path: string, visitor = desktop): Promise<Visit> {
  const { page, complaints } = visitor
  await page.mouse.move(0, 0)
  await page.goto(path)
  complaints.length = 0
  return visitor
}

const chart = (page: Page, name: string | RegExp) => page.getByRole('application', { name })
const tooltip = (page: Page) => page.locator('[data-chart-tooltip]')

/** With SHOTS set, pictures of the charts in all four looks are stored there. */
async function shoot(path: string, name: string, ready: string | RegExp): Promise<void> {
  const folder = process.env['SHOTS']
  if (!folder) return
  mkdirSync(folder, { recursive: true })
  for (const visitor of [desktop, phone])
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await open(path, visitor)
      await page.emulateMedia({ colorScheme })
      await chart(page, ready).first().waitFor()
      await untilLoaded(page)
      const width = page.viewportSize()?.width
      await page.screenshot({
        path: `${folder}/${name}-${width}-${colorScheme}.png`,
        fullPage: true,
      })
    }
}

describe('the charts of DMARC', () => {
  const DAILY = 'Messages per day, passed and failed'

  it('show a day with the mouse, and open its reports with a click', async () => {
    const { page, complaints } = await open(`/dmarc/${data.domain}`)
    const daily = chart(page, DAILY)
    await daily.scrollIntoViewIfNeeded()
    const box = await daily.boundingBox()
    if (!box) throw new Error('the chart has no box')
    await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.5)
    await tooltip(page).getByText('Passed').waitFor()
    await page.mouse.move(box.x + box.width * 0.5, box.y - 60)
    await tooltip(page).waitFor({ state: 'detached' })
    await page.mouse.click(box.x + box.width * 0.5, box.y + box.height * 0.5)
    await page.waitForURL(/\/reports\?day=/)
    await page.getByText('1 report', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'show all days' }).click()
    await page.getByText('28 reports').waitFor()
    expect(complaints).toEqual([])
  })

  it('move with the arrow keys, announce each day, close with Escape and open with Enter', async () => {
    const { page } = await open(`/dmarc/${data.domain}`)
    const daily = chart(page, DAILY)
    await daily.press('End')
    const last = await tooltip(page).innerText()
    await page.keyboard.press('ArrowLeft')
    expect(await tooltip(page).innerText()).not.toBe(last)
    const announced = page
      .getByRole('status')
      .filter({ hasText: /Passed [\d,]+ \([\d.]+%\), Failed \d+ \([\d.]+%\)\. Show/ })
    expect(await announced.count()).toBe(1)
    await page.keyboard.press('Escape')
    expect(await tooltip(page).count()).toBe(0)
    await page.keyboard.press('End')
    await page.keyboard.press('ArrowLeft')
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/reports\?day=/)
  })

  it('shows the pass rate of each sender, with gaps instead of 0%', async () => {
    const { page, complaints } = await open(`/dmarc/${data.domain}`)
    const google = chart(page, 'Pass rate of Google Workspace per day')
    await google.scrollIntoViewIfNeeded()
    // Two runs of days, with a gap of five between them.
    await expect.poll(() => google.locator('path').count()).toBe(2)
    await google.press('End')
    for (let day = 0; day < 10; day++) await page.keyboard.press('ArrowLeft')
    await tooltip(page).getByText('No messages').waitFor()
    await page.getByRole('combobox', { name: 'Chart', exact: true }).selectOption('volume')
    await chart(page, 'Messages of Twilio SendGrid per day').waitFor()
    const section = page.getByRole('region', { name: 'Pass rate by sender' })
    await section.getByText('Show as table').click()
    await section.getByRole('rowheader', { name: 'Twilio SendGrid' }).first().waitFor()
    expect(complaints).toEqual([])
    await shoot(`/dmarc/${data.domain}`, 'dmarc', /Pass rate of/)
  })

  it('show on touch with one tap, and open with the second', async () => {
    const context = await browser.newContext({
      baseURL: portreeve.url,
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
      reducedMotion: 'reduce',
    })
    await context.addCookies(cookies)
    const page = await context.newPage()
    await page.goto(`/dmarc/${data.domain}`)
    const daily = chart(page, DAILY)
    await daily.scrollIntoViewIfNeeded()
    await daily.tap({ position: { x: 200, y: 90 } })
    await tooltip(page).getByText('Passed').waitFor()
    expect(page.url()).not.toContain('day=')
    const box = await tooltip(page).boundingBox()
    expect(box?.x).toBeGreaterThanOrEqual(0)
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390)
    await daily.tap({ position: { x: 200, y: 90 } })
    await page.waitForURL(/\/reports\?day=/)
    await context.close()
  })
})

describe('the charts of monitoring', () => {
  it('show the listings of all hosts, and lead to a host', async () => {
    const { page, complaints } = await open('/monitoring')
    const timeline = chart(page, 'Listings, last 90 days')
    await timeline.press('Home')
    await tooltip(page).getByText('Not listed for').waitFor()
    await page.keyboard.press('ArrowRight')
    await tooltip(page).getByText('Listed for 4 days').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/monitoring/${data.host}`)
    expect(complaints).toEqual([])
    await shoot('/monitoring', 'monitoring', 'Listings, last 90 days')
  })

  it('show a host’s blocklists, certificates and records, and lead to the changes of a day', async () => {
    const { page, complaints } = await open(`/monitoring/${data.host}`)
    const timeline = chart(page, 'Listings, last 90 days')
    await timeline.getByText('SpamCop SCBL').first().waitFor()
    await timeline.getByText('Certificates').waitFor()
    await timeline.press('End')
    await tooltip(page).getByText('mail.example.com A').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/day=.*#changes/)
    await page.getByRole('cell', { name: '192.0.2.9 → 192.0.2.10' }).waitFor()
    await chart(page, 'Listings by day').press('End')
    await page.keyboard.press('Enter')
    await page.getByText('No changes on this day.').waitFor()
    expect(complaints).toEqual([])
    await shoot(`/monitoring/${data.host}`, 'host', 'Listings, last 90 days')
  })
})

describe('the throughput of a migration', () => {
  it('is there after a reload, with its interruptions', async () => {
    const { page, complaints } = await open(`/migrations/${data.migration}`)
    const throughput = chart(page, 'Throughput')
    await throughput.waitFor()
    await page.reload()
    await throughput.press('End')
    await tooltip(page).getByText('Messages/s').waitFor()
    await page.getByText('Show as table').click()
    await page.getByRole('cell', { name: 'Connection lost' }).waitFor()
    const slowed = page.getByRole('cell', { name: 'Server asked to slow down' })
    await expect.poll(() => slowed.count()).toBe(11)
    expect(complaints).toEqual([])
    await shoot(`/migrations/${data.migration}`, 'migration', 'Throughput')
  })
})

describe('the attack map', () => {
  it('leads from a cell to the list of that service, and from a day to its networks', async () => {
    const { page, complaints } = await open('/attacks')
    const map = chart(page, /^Attacks by network/)
    await map.getByText('Example Hosting').first().waitFor()
    await map.press('ArrowRight')
    await tooltip(page).getByText('AS64500').waitFor()
    await page.keyboard.press('ArrowDown')
    await tooltip(page).getByText('AS64501').waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/attacks\/list\?service=/)
    await page.goBack()
    const daily = chart(page, 'Reports per day')
    await daily.press('End')
    await page.keyboard.press('Enter')
    await page.waitForURL(/day=/)
    await page.getByText('No reports in this time.').waitFor()
    await page.getByRole('link', { name: 'Show the last 7 days' }).click()
    await map.waitFor()
    expect(complaints).toEqual([])
    await shoot('/attacks', 'attacks', /^Attacks by network/)
  })

  it('is public, without links that need an account', async () => {
    const { page, close } = await visit(browser, portreeve.url)
    await page.goto('/network')
    const map = chart(page, /^Attacks by network/)
    await map.press('ArrowRight')
    await tooltip(page).waitFor()
    expect(await tooltip(page).getByRole('link').count()).toBe(0)
    await close()
  })
})

describe('every chart', () => {
  const pages = () => [
    `/dmarc/${data.domain}`,
    '/monitoring',
    `/monitoring/${data.host}`,
    `/migrations/${data.migration}`,
    '/attacks',
  ]

  it('has no accessibility faults, with its tooltip, from 320 to 1440 pixels', async () => {
    for (const path of pages()) {
      const { page } = await open(path)
      const first = page.getByRole('application').first()
      await first.press('End')
      await tooltip(page).waitFor()
      expect(await faultsAtAllWidths(page), path).toEqual([])
    }
  })

  it('is drawn when it comes near the window, and on paper, with its table', async () => {
    const { page } = await open(`/dmarc/${data.domain}`, phone)
    const [first, last] = [
      page.getByRole('application').first(),
      page.getByRole('application').last(),
    ]
    await first.locator('svg').waitFor()
    // It may have been near the window while what is above was loading.
    await expect.poll(() => last.locator('svg').count()).toBe(0)
    const rows = () => page.locator('details [data-rows] tr').count()
    expect(await rows()).toBe(0)
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`)
    await last.locator('svg').waitFor()
    expect(await rows()).toBeGreaterThan(30)
    await page.evaluate(`dispatchEvent(new Event('afterprint'))`)
    await expect.poll(() => last.locator('svg').count()).toBe(0)
    await last.scrollIntoViewIfNeeded()
    await last.locator('svg').waitFor()
  })

  it('fits a phone', async () => {
    for (const path of pages()) {
      const { page } = await open(path, phone)
      await page.getByRole('application').first().waitFor()
      expect(await overflow(page), path).toBeLessThanOrEqual(0)
    }
  })
})
