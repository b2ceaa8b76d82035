// Walks over all screens of test/browser/screens.ts on a running service and prints a Markdown table: kilobytes of the
// first load (files, and data of the API), layout shift on a phone and a desk, violations of axe, and pixels beside the
// window from 320 px on.
// node bench/dashboard/figures.ts --url http://localhost:8080 --email E --password P [PATTERN]
// measure.ts adds the score of Lighthouse. Screens of objects that the account lacks are left out.
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { MAIL, PUBLIC, TOOLS, type Screen } from '../../test/browser/screens.ts'
import { firstValue, signIn } from './pages.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
const WIDTHS = [320, 390, 768, 1440]
const PHONE = 390
const DESK = 1440

/** Milliseconds without a request after which a screen counts as loaded; its event stream stays open. */
const QUIET_MS = 1_000
const MAX_LOAD_MS = 20_000
const RESIZE_MS = 500

const OBSERVE = `window.shift = 0
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shift += value
  }).observe({ type: 'layout-shift', buffered: true })`

/** Where the API lists the objects in the addresses of screens, and the key of what they contain. */
const OBJECTS: Record<string, { list: (ids: Record<string, string>) => string; key: string }> = {
  domain: { list: () => '/api/v1/dmarc/domains', key: 'id' },
  report: {
    list: ({ domain }) => `/api/v1/dmarc/domains/${domain}/reports?records=false`,
    key: 'id',
  },
  host: { list: () => '/api/v1/monitoring/hosts', key: 'id' },
  delisting: { list: () => '/api/v1/delisting/status?limit=1', key: 'id' },
  hook: { list: () => '/api/webhook/endpoints', key: 'id' },
  migration: { list: () => '/api/v1/imap/migrations?limit=1', key: 'migrationId' },
  batch: { list: () => '/api/v1/imap/batches?limit=1', key: 'id' },
  network: { list: () => '/api/v1/abuse/watched-networks', key: 'id' },
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: 'string', default: 'http://localhost:8080' },
    email: { type: 'string', default: '' },
    password: { type: 'string', default: '' },
    /** A watched domain, whose list of fixes is looked for. */
    domain: { type: 'string', default: 'example.com' },
    chrome: { type: 'string', default: '/usr/bin/chromium-headless-shell' },
  },
})

/** Kilobytes over the network. */
type Loaded = { files: number; data: number }
type Figures = { loaded: Loaded; shifts: number[]; axe: string[]; beside: number }

async function findIds(cookie: string): Promise<Record<string, string>> {
  const ids: Record<string, string> = {}
  for (const [name, { list, key }] of Object.entries(OBJECTS)) {
    const answer = await fetch(new URL(list(ids), values.url), { headers: { cookie } })
    const value = answer.ok ? firstValue(await answer.json(), key) : null
    if (value !== null) ids[name] = value
  }
  return ids
}

async function openContext(
  browser: Browser,
  cookie: string,
  width: number,
): Promise<BrowserContext> {
  const context = await browser.newContext({
    baseURL: values.url,
    viewport: { width, height: width < 500 ? 844 : 900 },
    reducedMotion: 'reduce',
    ...(cookie && { extraHTTPHeaders: { cookie } }),
  })
  await context.addInitScript(OBSERVE)
  return context
}

/** Loads a screen with an empty cache. */
async function load(page: Page, path: string): Promise<Loaded> {
  const loaded = { files: 0, data: 0 }
  let last = Date.now()
  const ofData = new Set<string>()
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Network.enable')
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    loaded[ofData.has(requestId) ? 'data' : 'files'] += encodedDataLength / 1_000
    last = Date.now()
  })
  devtools.on('Network.requestWillBeSent', ({ requestId, request }) => {
    if (new URL(request.url).pathname.startsWith('/api/')) ofData.add(requestId)
    last = Date.now()
  })
  const begun = Date.now()
  await page.goto(path)
  while (Date.now() - last < QUIET_MS && Date.now() - begun < MAX_LOAD_MS)
    await page.waitForTimeout(100)
  await devtools.detach()
  return loaded
}

const shiftOf = (page: Page) => page.evaluate<number>('window.shift')
const besideOf = (page: Page) =>
  page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )

async function figuresOf(browser: Browser, cookie: string, path: string): Promise<Figures> {
  const shifts: number[] = []
  let loaded: Loaded = { files: 0, data: 0 }
  for (const width of [PHONE, DESK]) {
    const context = await openContext(browser, cookie, width)
    const page = await context.newPage()
    const now = await load(page, path)
    if (width === PHONE) loaded = now
    shifts.push(await shiftOf(page))
    if (width === PHONE) {
      await context.close()
      continue
    }
    let beside = 0
    for (const narrow of WIDTHS) {
      await page.setViewportSize({ width: narrow, height: 900 })
      // Charts take their new width in a later frame.
      await page.waitForTimeout(RESIZE_MS)
      beside = Math.max(beside, await besideOf(page))
    }
    await page.evaluate(AXE)
    const { violations } = await page.evaluate<{ violations: { id: string }[] }>(
      `axe.run(document, ${JSON.stringify({ runOnly: RULES, resultTypes: ['violations'] })})`,
    )
    await context.close()
    return { loaded, shifts, axe: violations.map(({ id }) => id), beside }
  }
  throw new Error('unreachable')
}

/** Where the list of fixes begins at 1440 px, and after how many milliseconds it is there. */
async function findFixes(browser: Browser, cookie: string): Promise<string> {
  const context = await openContext(browser, cookie, DESK)
  const page = await context.newPage()
  const begun = Date.now()
  await page.goto(`/domains/${values.domain}`)
  const title = page.getByRole('heading', { name: 'Fix these in order' })
  await title.waitFor({ timeout: 30_000 })
  const known = Date.now() - begun
  await page.getByText('Checked just now').first().waitFor({ timeout: 30_000 })
  const done = Date.now() - begun
  const { y = Number.NaN } = (await title.boundingBox()) ?? {}
  await context.close()
  return `Fixes of ${values.domain}: at ${Math.round(y)} px, shown after ${known} ms; the check took ${done} ms.`
}

const pathOf = ({ at }: Screen, ids: Record<string, string>) =>
  at.replace(/:(\w+)/g, (whole, name: string) => ids[name] ?? whole)

const browser = await chromium.launch({
  executablePath: values.chrome,
  args: ['--no-sandbox', '--disable-gpu'],
})
try {
  const cookie = await signIn(values)
  const ids = await findIds(cookie)
  const wanted = new RegExp(positionals[0] ?? '')
  const screens = [
    ...PUBLIC.map((screen) => ({ path: pathOf(screen, ids), cookie: '' })),
    ...[...MAIL, ...TOOLS].map((screen) => ({ path: pathOf(screen, ids), cookie })),
  ]
  console.log(
    '| screen | files, kB | data, kB | shift, phone | shift, desk | axe | beside the window, px |',
  )
  console.log('| --- | --- | --- | --- | --- | --- | --- |')
  for (const { path, cookie: own } of new Map(screens.map((one) => [one.path, one])).values()) {
    if (path.includes(':') || !wanted.test(path)) continue
    try {
      const { loaded, shifts, axe, beside } = await figuresOf(browser, own, path)
      const [phone = 0, desk = 0] = shifts
      console.log(
        `| \`${path.replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'ID')}\` | ${Math.round(loaded.files)} | ${Math.round(loaded.data)} | ${phone.toFixed(3)} | ${desk.toFixed(3)} | ${axe.join(', ') || 'none'} | ${beside} |`,
      )
    } catch (error) {
      console.error(`${path} was not measured: ${(error as Error).message.split('\n')[0]}`)
    }
  }
  if (cookie) console.log(`\n${await findFixes(browser, cookie)}`)
} finally {
  await browser.close()
}
