import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEST_PATH } from '../base-path.ts'
import { sharedService, type Person, type TestService } from '../service.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import {
  faultsAtAllWidths,
  heading,
  overflow,
  signedIn,
  tabTo,
  visit,
  type Visit,
} from './browsing.ts'

const MAX_BYTES = 500_000
const MAX_LAYOUT_SHIFT = 0.05

let portreeve: TestService
let alice: Person
let browser: Browser
beforeAll(async () => {
  const service = await sharedService()
  service.dns.records['example.com A'] = ['192.0.2.7']
  portreeve = service
  alice = await portreeve.addPerson('Alice')
  browser = await sharedChromium()
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
})

/** Records every layout shift from the first paint on. */
async function watchLayout(page: Page): Promise<() => Promise<number>> {
  await page.addInitScript(`
    window.layoutShift = 0
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.layoutShift += entry.value
    }).observe({ type: 'layout-shift', buffered: true })
  `)
  return () => page.evaluate<number>('window.layoutShift')
}

/** Bytes of all responses as they are transferred, headers included, and whether more are due. */
async function watchNetwork(page: Page) {
  const session = await page.context().newCDPSession(page)
  const open = new Set<string>()
  let bytes = 0
  session.on('Network.requestWillBeSent', ({ requestId }) => open.add(requestId))
  session.on('Network.loadingFailed', ({ requestId }) => open.delete(requestId))
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    open.delete(requestId)
    bytes += encodedDataLength
  })
  await session.send('Network.enable')
  return { bytes: () => bytes, isIdle: () => open.size === 0 }
}

/** Whether the fonts are loaded, once the page was drawn twice more. */
const IS_DRAWN = `new Promise((resolve) => requestAnimationFrame(() =>
  requestAnimationFrame(() => resolve(document.fonts.status === 'loaded'))))`

const copied = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

describe.each([390, 1440])('the API reference at %i pixels', (width) => {
  it('opens from the dashboard, finds an operation and copies its sample', async () => {
    const { page, complaints, close } = await signedIn(browser, portreeve, `Bob${width}`, width)
    await page.goto('/home')
    if (width < 500) await page.getByRole('button', { name: 'More' }).click()
    const menu = width < 500 ? page.getByRole('dialog') : page.getByRole('navigation')
    await menu.getByRole('link', { name: 'API documentation' }).click()
    await heading(page, 'API reference').waitFor()

    if (width < 500) await page.getByRole('button', { name: 'Browse' }).click()
    else await page.keyboard.press('/')
    await page.keyboard.type('dns-check')
    await page.getByText('1 operation', { exact: true }).waitFor()
    await page.keyboard.press('Enter')
    await heading(page, 'Check the DNS records of a domain').waitFor()
    expect(page.url()).toBe(`${portreeve.url}/docs#getDnsCheck`)
    expect(await page.title()).toBe('Check the DNS records of a domain · Portreeve API')

    await page.getByLabel('Python', { exact: true }).check()
    await page.getByRole('button', { name: 'Copy Python request' }).click()
    await page.getByText('Copied.').waitFor()
    const sample = await copied(page)
    expect(sample).toContain(`${portreeve.url}${TEST_PATH}/api/v1/dns-check?domain=example.com`)
    expect(sample).toContain("os.environ['PORTREEVE_TOKEN']")
    await page.goto('/docs#createToken')
    await page.getByText('requests.post(').waitFor()

    await page.getByRole('link', { name: 'Dashboard' }).click()
    await page.getByRole('heading', { level: 1, name: 'Good to see you' }).waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  it('is small and does not shift, and needs no sign-in', async () => {
    for (const place of ['', '#getDnsCheck', '#createMigration/body/source/host']) {
      const { page, complaints, close } = await visit(browser, portreeve.url, width)
      const { bytes, isIdle } = await watchNetwork(page)
      const layoutShift = await watchLayout(page)
      await page.goto(`/docs${place}`)
      await page.getByText('Event streams').first().waitFor({ state: 'attached' })
      await page.locator('nav summary').first().waitFor({ state: 'attached' })
      await page.locator('main h1').waitFor()
      const isQuiet = async () => (await page.evaluate<boolean>(IS_DRAWN)) && isIdle()
      await expect.poll(isQuiet).toBe(true)
      expect(await layoutShift(), place).toBeLessThan(MAX_LAYOUT_SHIFT)
      expect(bytes(), place).toBeGreaterThan(50_000)
      expect(bytes(), place).toBeLessThan(MAX_BYTES)
      expect(await overflow(page), place).toBe(0)
      expect(complaints).toEqual([])
      await close()
    }
  })
})

describe('the API reference', () => {
  let stranger: Visit
  beforeAll(async () => void (stranger = await visit(browser, portreeve.url)))
  afterAll(() => stranger.close())

  /** Loads the page at this place: going to another one alone would load nothing. */
  async function open(place: string): Promise<Visit> {
    const { page, complaints } = stranger
    complaints.length = 0
    const isOpen = new URL(page.url()).pathname === '/docs'
    await page.goto(`/docs${place}`)
    if (isOpen) await page.reload()
    return stranger
  }

  it.each(['', '#createMigration', '#createAlertChannel', '#exportAbuseList', '#gone'])(
    'has no accessibility faults in either theme, from phone to desktop (%s)',
    async (place) => {
      const { page, complaints } = await open(place)
      await page.locator('main h1').waitFor()
      await page.locator('nav summary').first().waitFor()
      const trial = page.getByText('Send this request')
      if (await trial.isVisible()) await trial.click()
      expect(await faultsAtAllWidths(page)).toEqual([])
      expect(complaints).toEqual([])
    },
  )

  it('shares the theme with the dashboard and keeps it', async () => {
    const { page, close } = await visit(browser, portreeve.url)
    await page.emulateMedia({ colorScheme: 'light' })
    await page.goto('/docs')
    const background = () =>
      page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    const light = await background()
    await page.getByLabel('Dark', { exact: true }).check()
    await page.locator('html[data-theme=dark]').waitFor()
    expect(await background()).not.toBe(light)
    await page.goto('/')
    await page.locator('html[data-theme=dark]').waitFor()
    await close()
  })

  it('links to a field, with all fields above it open', async () => {
    const { page, close } = await visit(browser, portreeve.url, 390)
    await page.goto('/docs#getDnsCheck/200/data/soa/serial')
    const field = page.locator('li[data-target=true]')
    await field.waitFor()
    expect(await field.textContent()).toContain('serial')
    await expect
      .poll(() => field.evaluate((row) => row.getBoundingClientRect().top))
      .toBeLessThan(844)
    await page.getByRole('button', { name: '7 fields of soa' }).click()
    expect(await field.count()).toBe(0)
    await page.getByRole('link', { name: 'mx', exact: true }).click()
    expect(page.url()).toMatch(/#getDnsCheck\/200\/data\/mx$/)
    await page.goBack()
    await field.getByText('serial').waitFor()
    await close()
  })

  it('is used with the keyboard alone', async () => {
    const { page } = await open('')
    await page.locator('nav summary').first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('liveness')
    await page.getByText('1 operation', { exact: true }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await heading(page, 'Check liveness').waitFor()
    await tabTo(page, 'curl')
    await page.keyboard.press('ArrowRight')
    await page.getByText("await fetch('").waitFor({ state: 'attached' })
    await tabTo(page, 'Send this request')
    await page.keyboard.press('Enter')
    await tabTo(page, 'Send GET request')
    await page.keyboard.press('Enter')
    await page.getByText(/^200 · /).waitFor()
  })

  it('sends a request with a token, which no sample and no storage contains', async () => {
    const { page, complaints } = await open('#getDnsCheck')
    await page.getByText('Send this request').click()
    await page.getByRole('button', { name: 'Send GET request' }).click()
    await page.getByText('401 · ').waitFor()
    await page.getByLabel('API token').fill(alice.token)
    await page.getByRole('button', { name: 'Send GET request' }).click()
    await page.getByText('200 · ').waitFor()
    await page
      .getByLabel('Response', { exact: true })
      .getByText('"192.0.2.7"', { exact: true })
      .waitFor()
    const visible = await page.evaluate<string>('document.body.innerText')
    expect(visible).not.toContain(alice.token)
    expect(await page.evaluate<string>('JSON.stringify(localStorage)')).not.toContain(alice.token)
    expect(page.url()).not.toContain(alice.token)
    expect(complaints).toEqual([])
  })

  it('says that a body is not JSON before it is sent', async () => {
    const { page } = await open('#createMigration')
    await page.getByText('Send this request').click()
    await page.getByLabel('Body', { exact: true }).fill('{"source": }')
    await page.getByRole('button', { name: 'Send POST request' }).click()
    await page.getByRole('alert').getByText('The body is not valid JSON.').waitFor()
  })

  it('explains when the document does not load, and tries again', async () => {
    await stranger.page.goto('/docs')
    await stranger.page.route('**/openapi.json', (route) => route.abort(), { times: 1 })
    const { page } = await open('#getDnsCheck')
    await page.getByRole('button', { name: 'Try again' }).click()
    await heading(page, 'Check the DNS records of a domain').waitFor()
  })
})
