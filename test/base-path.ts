import type { BrowserContext, Page } from 'playwright-core'

/** The path below which tests start services, such as `/portreeve`; empty at the root. */
export const TEST_PATH = process.env['PORTREEVE_TEST_PATH'] ?? ''

/** The path in the browser of a path of the service. */
export const inService = (path: string) => `${TEST_PATH}${path}`

/** Lets the pages and requests of a context name paths of the service as at the root. */
export function removeTestPath(context: BrowserContext): void {
  if (TEST_PATH === '') return
  const { request } = context
  const { fetch } = request
  // The methods for `get`, `post` and others call it.
  request.fetch = (target, options) =>
    fetch.call(request, typeof target === 'string' ? below(target) : target, options)
  context.on('page', (page) => adapt(page))
}

function adapt(page: Page): void {
  const { goto, url, waitForURL } = page
  page.goto = (given, options) => goto.call(page, below(given), options)
  page.url = () => above(url.call(page))
  page.waitForURL = (wanted, options) => {
    if (typeof wanted === 'function')
      return waitForURL.call(page, (found) => wanted(new URL(above(found.href))), options)
    return waitForURL.call(page, typeof wanted === 'string' ? below(wanted) : wanted, options)
  }
}

const ORIGIN = String.raw`^((?:http://(?:localhost|127\.0\.0\.1):\d+)?)`
const ABOVE = new RegExp(`${ORIGIN}(?=/)(?!${TEST_PATH}(?:[/?#]|$))`)
const BELOW = new RegExp(`${ORIGIN}${TEST_PATH}(?=[/?#]|$)`)

const below = (url: string) => url.replace(ABOVE, `$1${TEST_PATH}`)
const above = (url: string) => url.replace(BELOW, '$1')
