import type { BrowserContext, Page } from 'playwright-core'

/** The path below which tests start services, such as `/portreeve`; empty at the root. */
export const TEST_PATH = process.env['PORTREEVE_TEST_PATH'] ?? ''

/** The path in the browser of a path of the service. */
export const inService = (path: string) => `${TEST_PATH}${path}`

/** Lets the pages and requests of a context name paths of the service as at the root. */
export function removeTestPath(context: BrowserContext): void {
  if (TEST_PATH === '') return
  const { request } = context
  const fetch = request.fetch.bind(request)
  // The methods for `get`, `post` and others call it.
  request.fetch = (target, options) =>
    fetch(typeof target === 'string' ? below(target) : target, options)
  context.on('page', (page) => adapt(page))
}

function adapt(page: Page): void {
  const goto = page.goto.bind(page)
  const url = page.url.bind(page)
  const waitForURL = page.waitForURL.bind(page)
  page.goto = (given, options) => goto(below(given), options)
  page.url = () => above(url())
  page.waitForURL = (wanted, options) => {
    if (typeof wanted === 'function')
      return waitForURL((found) => wanted(new URL(above(found.href))), options)
    return waitForURL(typeof wanted === 'string' ? below(wanted) : wanted, options)
  }
}

const ORIGIN = String.raw`^((?:http://(?:localhost|127\.0\.0\.1):\d+)?)`
const ABOVE = new RegExp(`${ORIGIN}(?=/)(?!${TEST_PATH}(?:[/?#]|$))`)
const BELOW = new RegExp(`${ORIGIN}${TEST_PATH}(?=[/?#]|$)`)

const below = (url: string) => url.replace(ABOVE, `$1${TEST_PATH}`)
const above = (url: string) => url.replace(BELOW, '$1')
