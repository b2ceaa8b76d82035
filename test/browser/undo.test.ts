import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { sharedService, type TestService } from '../service.ts'
import { accessibilityFaults, heading, signedIn, type Visit } from './browsing.ts'

/** Milliseconds after which a toast closes, and the deletion is sent. */
const UNDO_MS = 8_000

let browser: Browser
let portreeve: TestService
let alice: Visit
let page: Page
beforeAll(async () => {
  browser = await sharedChromium()
  portreeve = await sharedService()
  alice = await signedIn(browser, portreeve, 'Alice')
  page = alice.page
  await page.clock.install()
})
afterAll(async () => {
  await alice.close()
  await closeContexts(browser)
  await portreeve.stop()
})

async function makeEndpoint(label: string): Promise<string> {
  const answer = await page.request.post('/api/webhook/endpoints', {
    data: { label },
    headers: { origin: portreeve.url },
  })
  return ((await answer.json()) as { endpoint: { id: string } }).endpoint.id
}

/** The endpoints of the service, as another program sees them. */
async function stored(): Promise<string[]> {
  const answer = await page.request.get('/api/webhook/endpoints')
  const { endpoints } = (await answer.json()) as { endpoints: { label: string }[] }
  return endpoints.map(({ label }) => label)
}

const toast = (text: string) => page.getByRole('status').getByText(text)
const entry = (label: string) => page.getByRole('link', { name: label, exact: true })
const undo = () => page.getByRole('button', { name: 'Undo' })

async function deleteEndpoint(label: string): Promise<void> {
  const id = await makeEndpoint(label)
  await page.goto(`/hooks/${id}/settings`)
  await page.getByRole('button', { name: 'Delete this endpoint' }).click()
  await heading(page, 'Webhooks').waitFor()
  await toast(`Deleting “${label}”`).waitFor()
}

describe('a deletion', () => {
  it('can be undone, and nothing was sent meanwhile', async () => {
    await makeEndpoint('another one')
    await deleteEndpoint('kept')
    // The toast stays while axe checks the page, however long that takes.
    await undo().hover()
    await entry('another one').waitFor()
    expect(await entry('kept').count()).toBe(0)
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await stored()).toContain('kept')
    await undo().click()
    await entry('kept').waitFor()
    expect(await undo().count()).toBe(0)
    await page.reload()
    await entry('kept').waitFor()
  })

  it('stays hidden when the list is fetched again, and is sent when the toast closes', async () => {
    await deleteEndpoint('deleted')
    await makeEndpoint('made elsewhere')
    await entry('made elsewhere').waitFor()
    expect(await entry('deleted').count()).toBe(0)
    await page.clock.fastForward(UNDO_MS)
    await expect.poll(stored).not.toContain('deleted')
    await undo().waitFor({ state: 'detached' })
  })

  it('waits while the pointer is on the toast', async () => {
    await deleteEndpoint('hovered')
    await undo().hover()
    await page.clock.fastForward(2 * UNDO_MS)
    await undo().click()
    await entry('hovered').waitFor()
    expect(await stored()).toContain('hovered')
  })

  it('is sent at once when the page is left', async () => {
    await deleteEndpoint('left behind')
    await page.goto('about:blank')
    await expect.poll(stored).not.toContain('left behind')
  })

  it('is sent when the user signs out', async () => {
    await deleteEndpoint('before signing out')
    const sent = page.waitForResponse((each) => each.request().method() === 'DELETE')
    await page.keyboard.press('Control+k')
    await page.keyboard.type('Sign out')
    await page.keyboard.press('Enter')
    expect((await sent).ok()).toBe(true)
    await page.getByRole('link', { name: 'Sign in' }).waitFor()
  })

  it('comes back with the reason when the service rejects it', async () => {
    const bob = await signedIn(browser, portreeve, 'Bob')
    page = bob.page
    await page.clock.install()
    await deleteEndpoint('unreachable')
    await page.route('**/api/webhook/endpoints/*', (route) => route.abort('connectionrefused'))
    await page.clock.fastForward(UNDO_MS)
    await toast('Not deleted. Can’t reach the server.').waitFor()
    await entry('unreachable').waitFor()
    await bob.close()
  })

  it('causes no browser errors', () => {
    expect(alice.complaints).toEqual([])
  })
})
