import type { Browser, Page, Request } from 'playwright-core'
import { expect } from 'vitest'
import type { Person, TestService } from '../service.ts'
import {
  faultsAtAllWidths,
  faultsOnPaper,
  goTo,
  overflow,
  signIn,
  visit,
  type Visit,
} from './browsing.ts'
import type { Ids } from './screen-data.ts'
import type { Screen } from './screens.ts'

/** The limit of “good” is 0.1; a page that only replaces its outline stays far below. */
export const MAX_SHIFT = 0.05

/** Delays each answer, so that outlines are shown as on a real network. */
const LATENCY_MS = 150

const WIDTHS = [390, 1440]

/** Begins with the page, so that no shift is missed. */
export const OBSERVE = `window.shifts = []
  const record = (entries) => {
    for (const { value, hadRecentInput, sources } of entries)
      if (!hadRecentInput) shifts.push({ value, moved: sources.map(({ node, previousRect, currentRect }) =>
        (node?.outerHTML ?? node?.textContent ?? '').slice(0, 120) + ' ' + previousRect.y + ' → ' + currentRect.y) })
  }
  const observer = new PerformanceObserver((list) => record(list.getEntries()))
  observer.observe({ type: 'layout-shift', buffered: true })
  window.takeShifts = () => (record(observer.takeRecords()), shifts)`

/** Names what the page is busy with; nothing, if nothing was to do or moved for some frames on end. */
const QUIET_FRAMES = 6
const BUSY_WITH = `new Promise((resolve) => {
  const router = window.__TSR_ROUTER__
  const before = window.takeShifts?.().length
  let frames = 0
  const next = () => {
    const reasons = [
      router?.state.status !== 'idle' && 'a route',
      router?.options.context.queries.isFetching() > 0 && 'queries',
      document.fonts.status !== 'loaded' && 'fonts',
      window.takeShifts?.().length !== before && 'its layout',
    ].filter(Boolean)
    if (reasons.length > 0 || ++frames === ${QUIET_FRAMES}) resolve(reasons)
    else requestAnimationFrame(next)
  }
  next()
})`

export type Shift = { value: number; moved: string[] }

/** A page of one width, and the requests that it waits for. */
type Window = Visit & { width: number; requests: Set<Request> }

/** Who walks over the screens: the same person in a window of each width. */
export type Walker = { phone: Window; desktop: Window; close: () => Promise<void> }

/** Opens the windows, in which answers of the API are late. */
export async function startWalk(
  browser: Browser,
  portreeve: TestService,
  person?: Person,
): Promise<Walker> {
  const open = async (width: number) => {
    const window = await openWindow(browser, portreeve, width, person)
    await delayAnswers(window.page, portreeve.url)
    await window.page.addInitScript(OBSERVE)
    return window
  }
  const [phone, desktop] = (await Promise.all(WIDTHS.map(open))) as [Window, Window]
  return { phone, desktop, close: async () => void (await Promise.all([phone.close(), desktop.close()])) } // prettier-ignore
}

/** Opens a window of this width. */
export async function openWindow(
  browser: Browser,
  portreeve: TestService,
  width: number,
  person?: Person,
): Promise<Window> {
  const visitor = await visit(browser, portreeve.url, width)
  if (person) await signIn(visitor, portreeve, person)
  const requests = new Set<Request>()
  const isQuery = (request: Request) => ['fetch', 'xhr', 'eventsource'].includes(request.resourceType()) // prettier-ignore
  const end = (request: Request) => void requests.delete(request)
  // The page itself knows of its queries. What it does not read of a response never ends.
  visitor.page.on('request', (request) => {
    if (!isQuery(request)) requests.add(request)
  })
  visitor.page.on('requestfinished', end)
  visitor.page.on('requestfailed', end)
  return { ...visitor, width, requests }
}

/**
 * Chromium delays the answers itself: a route of Playwright would turn its cache off, and every
 * page would load and compile all scripts again.
 */
async function delayAnswers(page: Page, url: string): Promise<void> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Network.enable')
  await devtools.send('Network.emulateNetworkConditionsByRule', {
    matchedNetworkConditions: [
      {
        urlPattern: `${url}/api/*`,
        latency: LATENCY_MS,
        downloadThroughput: -1,
        uploadThroughput: -1,
      },
    ],
  })
}

/** Whether answers of the API reach the page late. If they did not, no outline would be tested. */
export async function isDelayed({ page }: Window): Promise<boolean> {
  const milliseconds = await page.evaluate<number>(`(async () => {
    const start = performance.now()
    await fetch('/api/v1/overview')
    return performance.now() - start
  })()`)
  return milliseconds >= LATENCY_MS
}

/** Waits until the screen is complete: no file or query is open, and nothing moves any more. */
async function untilQuiet({ page, requests }: Window): Promise<void> {
  await page.locator('h1').first().waitFor()
  await expect
    .poll(
      async () =>
        requests.size > 0
          ? [...requests].map((request) => request.url())
          : page.evaluate<string[]>(BUSY_WITH),
      { interval: 20, message: 'what the page is busy with' },
    )
    .toEqual([])
}

/**
 * Cumulative layout shift, and what lies beside the window. Needs a whole load of the page: what moves while the first scripts and
 * answers arrive is what visitors see, and going from screen to screen counts as input.
 */
async function faultsOfLayout(window: Window, at: string): Promise<string[]> {
  const { page, requests, width } = window
  requests.clear()
  await page.goto(at)
  await untilQuiet(window)
  const shifts = await page.evaluate<Shift[]>('takeShifts()')
  const beside = await overflow(page)
  const faults = beside > 0 ? [`${width}: ${beside} pixels lie beside the window`] : []
  const sum = shifts.reduce((total, { value }) => total + value, 0)
  if (sum < MAX_SHIFT) return faults
  const worst = shifts.toSorted((one, other) => other.value - one.value).slice(0, 2)
  const lines = worst.map(({ value, moved }) => `${value.toFixed(3)} ${moved.join('\n      ')}`)
  return [...faults, `${width}: the layout shifts by ${sum.toFixed(3)}\n   ${lines.join('\n   ')}`]
}

const addressOf = (at: string, ids: Ids) =>
  at.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? `no-${name}`)

/** Loads a screen in both windows, and lists its faults in the larger one. */
export async function faultsOf(
  { phone, desktop }: Walker,
  screen: Screen,
  ids: Ids = {},
): Promise<string[]> {
  const at = addressOf(screen.at, ids)
  for (const { complaints } of [phone, desktop]) complaints.length = 0
  const shifts = await Promise.all([faultsOfLayout(phone, at), faultsOfLayout(desktop, at)])
  const faults = await faultsOfStates(desktop, screen)
  return [...shifts.flat(), ...faults, ...complaintsOf([phone, desktop], screen)]
}

/** Goes to a screen within the application, and lists its faults. */
export async function faultsOfNext(
  window: Window,
  screen: Screen,
  ids: Ids = {},
): Promise<string[]> {
  window.complaints.length = 0
  await goTo(window.page, addressOf(screen.at, ids))
  await untilQuiet(window)
  const faults = await faultsOfStates(window, screen)
  return [...faults, ...complaintsOf([window], screen)]
}

/** The faults of a screen, on paper and after each of its actions. */
async function faultsOfStates({ page }: Window, { shows, acts = [] }: Screen): Promise<string[]> {
  const faults = await faultsOnPaper(page)
  if (shows === undefined) return faults
  await page.getByText(shows).first().waitFor()
  faults.push(...(await faultsAtAllWidths(page)))
  for (const act of acts) {
    await act(page)
    faults.push(...(await faultsAtAllWidths(page)))
  }
  return faults
}

const complaintsOf = (windows: Window[], { except = /^$/ }: Screen) =>
  windows.flatMap(({ complaints }) => complaints.filter((complaint) => !except.test(complaint)))
