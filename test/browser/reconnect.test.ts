import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { heading, signedIn, type Visit } from './browsing.ts'

/** What a browser reports of a service that does not answer. */
const UNREACHABLE = /ERR_CONNECTION_(REFUSED|RESET)|ERR_INCOMPLETE|ERR_EMPTY_RESPONSE|status of 503/

let browser: Browser
let portreeve: TestService
beforeAll(async () => {
  browser = await sharedChromium()
  portreeve = await startTestService()
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
})

const banner = (page: Page) => page.getByRole('status').getByText('Reconnecting…')

async function addEndpoint(token: string, label: string): Promise<void> {
  const answer = await portreeve.request('/api/webhook/endpoints', {
    method: 'POST',
    token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ label }),
  })
  expect(answer.ok).toBe(true)
}

describe('an open tab while the service restarts', () => {
  let alice: Visit
  let page: Page
  let token: string
  beforeAll(async () => {
    alice = await signedIn(browser, portreeve, 'Alice')
    page = alice.page
    const made = await page.request.post('/api/v1/tokens', {
      data: { label: 'elsewhere' },
      headers: { origin: portreeve.url },
    })
    token = ((await made.json()) as { token: string }).token
  })
  afterAll(() => alice.close())

  const added = () => page.getByRole('link', { name: 'added after the restart' })

  it('keeps its screen and input, and says that it reconnects', async () => {
    await page.goto('/tokens')
    await page.getByLabel('Token name').fill('half typed')
    await portreeve.pause()
    await banner(page).waitFor()
    expect(await page.getByLabel('Token name').inputValue()).toBe('half typed')
  })

  it('shows the frame and an outline of a screen that is opened meanwhile', async () => {
    await page.getByRole('link', { name: 'Migrations', exact: true }).click()
    await page.getByText('Loading…').waitFor()
    await page.getByRole('link', { name: 'Servers & IPs', exact: true }).waitFor()
    expect(new URL(page.url()).pathname).toBe('/migrations')
  })

  it('opens that screen by itself once the service answers, and receives changes', async () => {
    await portreeve.resume()
    await heading(page, 'Migrations').waitFor()
    await banner(page).waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
    await heading(page, 'Webhooks').waitFor()
    await addEndpoint(token, 'added after the restart')
    await added().waitFor()
  })

  it('fetches the shown screen again after a second restart', async () => {
    await page.goto('/hooks')
    await added().waitFor()
    await portreeve.pause()
    await banner(page).waitFor()
    await added().waitFor()
    expect(await page.getByText('Can’t reach the server').count()).toBe(0)
    const fetched = page.waitForResponse('**/api/webhook/endpoints')
    await portreeve.resume()
    expect((await fetched).ok()).toBe(true)
    await banner(page).waitFor({ state: 'detached' })
  })

  it('never left the dashboard', () => {
    expect(alice.complaints.filter((each) => !UNREACHABLE.test(each))).toEqual([])
  })
})

describe('a screen whose file a release removed', () => {
  const FILES = '**/assets/attack-administration-*'
  let alice: Visit
  let page: Page
  let loads = 0
  beforeAll(async () => {
    alice = await signedIn(browser, portreeve, 'Carla', undefined, { admin: true })
    page = alice.page
    await page.goto('/attacks/mails')
    await heading(page, 'Abuse emails').waitFor()
    page.on('load', () => loads++)
  })
  afterAll(() => alice.close())

  /** The service answers for the files of this screen as for any that it does not have. */
  async function withoutFiles(run: () => Promise<void>): Promise<void> {
    await page.route(FILES, async (route) => {
      const url = route.request().url().replace('attack-administration-', 'removed-')
      const response = await route.fetch({ url })
      expect(response.status()).toBe(404)
      await route.fulfill({ response })
    })
    await run()
    await page.unroute(FILES)
  }
  const open = () => page.getByRole('link', { name: 'Shared list', exact: true }).click()

  it('reloads the page once, and then explains what to do inside of the frame', async () => {
    await withoutFiles(async () => {
      await open()
      await page.getByText('Portreeve was updated.').waitFor()
      expect(loads).toBe(1)
      expect(new URL(page.url()).pathname).toBe('/attacks/administration')
      await page.getByRole('link', { name: 'Servers & IPs', exact: true }).waitFor()
    })
  })

  it('opens after the reload when the new files are there', async () => {
    await page.getByRole('button', { name: 'Reload' }).click()
    await heading(page, 'Attack reporting administration').waitFor()
    expect(loads).toBe(2)
  })

  it('may be reloaded again for the next release', async () => {
    const markers = 'Object.keys(sessionStorage).filter((key) => key.includes("reloaded"))'
    expect(await page.evaluate(markers)).toEqual([])
  })
})
