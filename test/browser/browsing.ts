import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { TEST_PATH } from '../base-path.ts'
import { describeOnFailure } from '../failed-pages.ts'
import type { Person, TestService } from '../service.ts'
import { openInProfile } from './profiles.ts'

const BUILT = 'web/dist/index.html'
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** WCAG 2.2 level AA, and best practices. Only these rules check colors. */
const RULES = {
  light: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  dark: ['color-contrast', 'link-in-text-block'],
}
/** Style sheets are not loaded again: only an experimental rule, which is not among these, needs them. */
const OPTIONS = { resultTypes: ['violations'], preload: { assets: ['media'] } }
const run = (runOnly: string[]) => `axe.run(document, ${JSON.stringify({ runOnly, ...OPTIONS })})`

export type Visit = {
  page: Page
  /** Browser messages so far. A 401 means that no user is signed in. */
  complaints: string[]
  close: () => Promise<void>
}

/** Opens a page in an empty browser profile. */
export async function visit(browser: Browser, baseURL: string, width = 1440): Promise<Visit> {
  if (!existsSync(BUILT))
    throw new Error(`${BUILT} is missing: run npm run build:web before these tests.`)
  const { page, close } = await openInProfile(browser, baseURL, width)
  describeOnFailure(page)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    const isComplaint =
      ['error', 'warning'].includes(message.type()) && !message.text().includes('status of 401')
    if (isComplaint) complaints.push(`${message.text()} (${message.location().url})`)
  })
  return { page, complaints, close }
}

type Theme = keyof typeof RULES

/** Lists the axe violations of the current page: theme, rule and element, one per line. */
export async function accessibilityFaults(
  page: Page,
  themes: Theme[] = ['light', 'dark'],
): Promise<string[]> {
  // Evaluated by the debugger, because the page's own policy lets no foreign script in.
  if (!(await page.evaluate<boolean>('window.axe !== undefined'))) await page.evaluate(AXE)
  const faults: string[] = []
  for (const colorScheme of themes) {
    await page.emulateMedia({ colorScheme })
    // A page without the dashboard’s scripts has its colors at once.
    if ((await page.locator('html[data-theme]').count()) > 0)
      await page.locator(`html[data-theme=${colorScheme}]`).waitFor()
    const { violations } = await page.evaluate<{ violations: Violation[] }>(run(RULES[colorScheme]))
    for (const { id, nodes } of violations) {
      faults.push(
        ...nodes.map(
          ({ target, failureSummary }) =>
            `${colorScheme}: ${id} ${String(target)} ${failureSummary}`,
        ),
      )
    }
  }
  return faults
}

type Violation = { id: string; nodes: { target: unknown; failureSummary: string }[] }

/** Waits until the service has accepted a change, which the page may already show. */
export const changed = (page: Page) =>
  page.waitForResponse((response) => response.request().method() !== 'GET' && response.ok())

/** Pixels by which the page is wider than the window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
}

/**
 * The widths of phone, tablet and desktop, and what axe checks there: a tablet shows nothing that
 * the others do not, and the colors of the dark theme are the same everywhere.
 */
const WIDTHS: [width: number, themes: Theme[]][] = [
  [320, ['light']],
  [768, []],
  [1440, ['light', 'dark']],
]

/** Lists the faults of the current page from phone to desktop width. */
export async function faultsAtAllWidths(page: Page): Promise<string[]> {
  const before = page.viewportSize() ?? { width: 1440, height: 900 }
  const faults: string[] = []
  for (const [width, themes] of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    const found = await accessibilityFaults(page, themes)
    faults.push(...found.map((fault) => `${width}: ${fault}`))
    const beside = await overflow(page)
    if (beside > 0) faults.push(`${width}: ${beside} pixels lie beside the window`)
  }
  await page.setViewportSize(before)
  return faults
}

/** Pixels of an A4 page between the margins of 12 mm. */
const PAPER_WIDTH = 703

/**
 * Lists what is wrong with the current page on paper: what is there to be pressed, what is beside
 * the sheet, and a background that is not white.
 */
export async function faultsOnPaper(page: Page): Promise<string[]> {
  const before = page.viewportSize() ?? { width: 1440, height: 900 }
  await page.setViewportSize({ width: PAPER_WIDTH, height: 900 })
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  // Charts take their new width in the next frame.
  await page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))',
  )
  const faults = await page.evaluate<string[]>(`(() => {
    const main = document.querySelector('#main')
    const isShown = (element) => element.checkVisibility() && element.getClientRects().length > 0
    const isUnwanted = (element) =>
      element.matches('button:not(th button), form[role=search]') || !(main.contains(element) || element.contains(main))
    const colors = [document.body, main].map((element) => getComputedStyle(element).backgroundColor)
    return [
      ...[...document.body.querySelectorAll('*')]
        .filter((element) => isUnwanted(element) && !isUnwanted(element.parentElement) && isShown(element))
        .map((element) => 'printed: ' + element.outerHTML.slice(0, 120)),
      ...colors
        .filter((color) => !['rgb(255, 255, 255)', 'rgba(0, 0, 0, 0)'].includes(color))
        .map((color) => 'printed on ' + color),
    ]
  })()`)
  const beside = await overflow(page)
  // Widths are rounded up.
  if (beside > 1) faults.push(`printed: ${beside} pixels lie beside the paper`)
  await page.emulateMedia({ media: null, colorScheme: null })
  await page.setViewportSize(before)
  return faults
}

/** Opens a page with a new account that is signed in without the form. */
export async function signedIn(
  browser: Browser,
  portreeve: TestService,
  name: string,
  width?: number,
  rights?: Parameters<TestService['addPerson']>[1],
): Promise<Visit & { person: Person }> {
  const person = await portreeve.addPerson(name, rights)
  const visitor = await visit(browser, portreeve.url, width)
  await signIn(visitor, portreeve, person)
  return { ...visitor, person }
}

let signIns = 0

/**
 * Signs in without the form: each time from an address of its own, where the service trusts the
 * header, because sign-ins are limited by address.
 */
export async function signIn(
  { page }: Pick<Visit, 'page'>,
  { url }: TestService,
  { email, password }: Pick<Person, 'email' | 'password'>,
): Promise<void> {
  signIns += 1
  const address = `198.18.${Math.floor(signIns / 256)}.${signIns % 256}`
  const answer = await page.request.post('/api/auth/sign-in/email', {
    data: { email, password },
    headers: { origin: url, 'x-forwarded-for': address },
  })
  if (!answer.ok())
    throw new Error(
      `signing in as ${email} was answered ${answer.status()}: ${await answer.text()}`,
    )
}

/** Goes to another screen as a link does, without loading the page again, and leaves what was typed. */
export async function goTo(page: Page, href: string): Promise<void> {
  await page.waitForFunction('window.__TSR_ROUTER__ !== undefined')
  await page.evaluate(
    `__TSR_ROUTER__.navigate({ href: ${JSON.stringify(href)}, ignoreBlocker: true })`,
  )
}

/** Waits until the dashboard shows the screen of its address, with everything that it asked for. */
export async function untilLoaded(page: Page): Promise<void> {
  // A screen asks after it was drawn for the first time.
  const isLoaded = `new Promise((resolve) => {
    const isLoaded = () => {
      const { state, options } = window.__TSR_ROUTER__ ?? {}
      return state?.status === 'idle' && state.resolvedLocation?.href === state.location.href &&
        options.context.queries.isFetching() === 0 && document.fonts.status === 'loaded'
    }
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(isLoaded())))
  })`
  await expect
    .poll(() => page.evaluate<boolean>(isLoaded), { interval: 20, timeout: 60_000 })
    .toBe(true)
}

/** Records the event streams of the pages that are opened from now on; see `openStreams`. */
export async function recordStreams(page: Page): Promise<void> {
  await page.addInitScript(`window.streams = []
    window.EventSource = class extends EventSource {
      constructor(...given) { super(...given); streams.push(this) }
    }`)
}

/** The paths of the event streams that the page has open. */
export async function openStreams(page: Page): Promise<string[]> {
  const urls = await page.evaluate<string[]>(
    'streams.filter(({ readyState }) => readyState !== 2).map(({ url }) => url)',
  )
  return urls.map((url) => new URL(url).pathname.slice(TEST_PATH.length))
}

/** The title of a screen, which is shown once the screen is loaded. */
export function heading(page: Page, name: string): Locator {
  return page.getByRole('heading', { level: 1, name, exact: true })
}

/**
 * Presses the Tab key until the element has the focus whose name begins with these words. Waits
 * until it is there: on a slow machine, 60 presses can end on the screen before.
 */
export async function tabTo(page: Page, name: string): Promise<void> {
  const isNamed = `it =>
    [it.getAttribute('aria-label'), it.labels?.[0]?.textContent, it.textContent]
      .filter(Boolean).concat('').join(' ').startsWith(${JSON.stringify(`${name} `)})`
  const focusable = 'a, button, input, select, textarea, summary, [tabindex]'
  await expect
    .poll(() => page.evaluate(`[...document.querySelectorAll('${focusable}')].some(${isNamed})`))
    .toBe(true)
  for (let presses = 0; presses < 60; presses++) {
    if (await page.evaluate<boolean>(`(${isNamed})(document.activeElement)`)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`The Tab key does not lead to “${name}”.`)
}

/** Submits the dialog for a duration, or until a date and time: `2026-11-26T14:00`. */
export async function chooseDuration(
  page: Page,
  submit: 'Snooze' | 'Mute',
  duration: string,
  until?: string,
): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Duration').selectOption(duration)
  if (until !== undefined) await dialog.getByLabel('Until', { exact: true }).fill(until)
  await dialog.getByRole('button', { name: submit, exact: true }).click()
}
