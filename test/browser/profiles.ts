import type { Browser, BrowserContext, Page } from 'playwright-core'
import { removeTestPath } from '../base-path.ts'

/**
 * Profiles that are empty but for Chromium’s cache, by the address of the service and the width of
 * the window. The scripts of the dashboard are compiled in them: the first page of a new profile
 * takes twice the processor time.
 */
const emptied = new WeakMap<Browser, Map<string, BrowserContext[]>>()

/** Profiles whose pages would all have another clock. */
const changed = new WeakSet<BrowserContext>()

const STORED_BY_PAGES = ['local_storage', 'indexeddb', 'cache_storage', 'service_workers']

/** Opens a page in a profile without cookies and stored data. */
export async function openInProfile(
  browser: Browser,
  baseURL: string,
  width: number,
): Promise<{ page: Page; close: () => Promise<void> }> {
  const free = freeProfiles(browser, `${baseURL} ${width}`)
  const profile = free.pop() ?? (await createProfile(browser, baseURL, width))
  const page = await profile.newPage()
  const close = async () => {
    if (changed.has(profile) || page.isClosed()) return profile.close()
    await empty(profile, page, baseURL)
    free.push(profile)
  }
  return { page, close }
}

function freeProfiles(browser: Browser, key: string): BrowserContext[] {
  const profiles = emptied.get(browser) ?? new Map<string, BrowserContext[]>()
  emptied.set(browser, profiles)
  const free = profiles.get(key) ?? []
  profiles.set(key, free)
  return free
}

async function createProfile(
  browser: Browser,
  baseURL: string,
  width: number,
): Promise<BrowserContext> {
  const profile = await browser.newContext({
    baseURL,
    viewport: { width, height: width < 500 ? 700 : 900 },
    permissions: ['clipboard-read', 'clipboard-write'],
    reducedMotion: 'reduce',
  })
  // Shorter than a test’s timeout, so that a failure names the missing element.
  profile.setDefaultTimeout(60_000)
  removeTestPath(profile)
  const install = profile.clock.install.bind(profile.clock)
  profile.clock.install = (options) => {
    changed.add(profile)
    return install(options)
  }
  return profile
}

/** Removes what pages stored, and closes them. */
async function empty(profile: BrowserContext, page: Page, baseURL: string): Promise<void> {
  const devtools = await profile.newCDPSession(page)
  await page.goto('about:blank')
  await devtools.send('Storage.clearDataForOrigin', {
    origin: new URL(baseURL).origin,
    storageTypes: STORED_BY_PAGES.join(','),
  })
  await Promise.all(profile.pages().map((open) => open.close()))
  await profile.clearCookies()
}
