import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aggregate } from '../dmarc/reports.ts'
import { IP } from '../servers/blacklists.ts'
import {
  goTo,
  heading,
  openStreams,
  recordStreams,
  signedIn,
  untilLoaded,
  type Visit,
} from './browsing.ts'
import { startMailPlace, type MailPlace } from './mail-place.ts'

let place: MailPlace
let alice: Visit & { token: string }
let page: Page
beforeAll(async () => {
  place = await startMailPlace()
  await place.lists.setZones({ 'bl.spamcop.net': { listed: { [IP]: '127.0.0.2' } } })
  alice = await visitor('Alice')
  page = alice.page
})
afterAll(async () => {
  await alice.close()
  await place.stop()
})

/** A tab whose event streams are counted, and an API token for a program. */
async function visitor(name: string): Promise<typeof alice> {
  const visit = await signedIn(place.browser, place.portreeve, name, undefined, { admin: true })
  await recordStreams(visit.page)
  const headers = { origin: place.portreeve.url }
  const made = await visit.page.request.post('/api/v1/tokens', {
    data: { label: 'elsewhere' },
    headers,
  })
  return { ...visit, token: ((await made.json()) as { token: string }).token }
}

async function elsewhere(
  method: string,
  path: string,
  body?: object,
): Promise<{ data: { id: string } }> {
  const headers = body ? { 'content-type': 'application/json' } : {}
  const init = { token: alice.token, method, headers, ...(body && { body: JSON.stringify(body) }) }
  const answer = await place.portreeve.request(path, init)
  expect(answer.status).toBeLessThan(300)
  return (await answer.json()) as { data: { id: string } }
}

async function upload(report: string): Promise<void> {
  const form = new FormData()
  form.append('file', new Blob([report]), 'report.xml')
  const answer = await place.portreeve.request('/api/v1/dmarc/reports', {
    method: 'POST',
    body: form,
    token: alice.token,
  })
  expect(answer.status).toBe(200)
}

describe('an open tab', () => {
  it('shows a host added by a program, and the result of its check', async () => {
    await page.goto('/monitoring')
    await page.getByText('No monitored hosts yet').waitFor()
    const { data } = await elsewhere('POST', '/api/v1/monitoring/hosts', {
      host: IP,
      label: 'added elsewhere',
    })
    await page.getByText('added elsewhere').waitFor()
    await elsewhere('POST', `/api/v1/monitoring/hosts/${data.id}/check`)
    await page.getByText('added elsewhere').waitFor()
    await page.getByText('Your host is listed.').waitFor()
  })

  it('shows a new report on the page of its domain', async () => {
    const { data } = await elsewhere('POST', '/api/v1/dmarc/domains', { domain: 'example.com' })
    await page.goto(`/dmarc/${data.id}`)
    await heading(page, 'example.com').waitFor()
    expect(await page.getByText('203.0.113.77').count()).toBe(0)
    await upload(aggregate({ domain: 'example.com', rows: [{ ip: '203.0.113.77', count: 12 }] }))
    await page.getByText('203.0.113.77').first().waitFor()
  })

  it('has one event stream on every screen, also after navigation', async () => {
    const endpoint = await page.request.post('/api/webhook/endpoints', {
      data: {},
      headers: { origin: place.portreeve.url },
    })
    const { id } = ((await endpoint.json()) as { endpoint: { id: string } }).endpoint
    const nobodys = '00000000-0000-4000-8000-000000000000'
    for (const [at, path] of SCREENS.entries()) {
      const href = path.replace('HOOK', id).replace('$', nobodys)
      // The first screen of each module is loaded, and the others are gone to.
      if (SCREENS.findIndex((other) => moduleOf(other) === moduleOf(path)) === at)
        await page.goto(href)
      else await goTo(page, href)
      await untilLoaded(page)
      await page.locator('h1').first().waitFor()
      await expect.poll(() => openStreams(page)).toEqual(['/api/v1/events'])
    }
    await page.goto('/home')
    for (const name of ['Webhooks', 'Servers', 'Migrations', 'Problems', 'Domains', 'Settings']) {
      await page
        .getByRole('navigation', { name: 'Main' })
        .getByRole('link', { name: new RegExp(`^${name}\\b`) })
        .first()
        .click()
      await page.locator('h1').first().waitFor()
      expect(await openStreams(page)).toEqual(['/api/v1/events'])
    }
    expect(await page.evaluate('streams.length')).toBe(1)
  })

  it('has none without a session, and asks for a sign-in when the session ends', async () => {
    const bob = await visitor('Bob')
    await bob.page.goto('/network')
    await bob.page.locator('h1').waitFor()
    expect(await openStreams(bob.page)).toEqual([])
    await bob.page.goto('/alerts')
    await heading(bob.page, 'Problems').waitFor()
    await expect.poll(() => openStreams(bob.page)).toEqual(['/api/v1/events'])
    // Signed out in another tab of the same browser.
    await bob.page.request.post('/api/auth/sign-out', {
      data: {},
      headers: { origin: place.portreeve.url },
    })
    await bob.page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
    expect(await openStreams(bob.page)).toEqual([])
    await bob.close()
  })

  it('causes no browser errors', () => {
    // Expected: the screens of missing objects are opened on purpose.
    expect(alice.complaints.filter((each) => !/status of 40[04]/.test(each))).toEqual([])
  })
})

describe('the number of problems in the menu', () => {
  let carol: typeof alice
  beforeAll(async () => void (carol = await visitor('Carol')))
  afterAll(() => carol.close())

  const addChannel = async (address: string) => {
    const answer = await place.portreeve.request('/api/v1/alerts/channels', {
      token: carol.token,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'email', address }),
    })
    expect(answer.status).toBe(201)
  }
  const countIn = async () =>
    Number(/\d+/.exec((await problemLink().textContent()) ?? '')?.[0] ?? 0)
  const problemLink = () =>
    carol.page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link', { name: /^Problems/ })
      .first()

  /** Opens a screen. @returns what it asked the service for, and the number in the menu */
  async function openTokens() {
    const paths: string[] = []
    carol.page.on('request', (request) => paths.push(new URL(request.url()).pathname))
    const listed = carol.page.waitForResponse('**/api/v1/problems')
    await carol.page.goto('/tokens')
    const { data } = (await (await listed).json()) as { data: { count: number } }
    await untilLoaded(carol.page)
    await expect.poll(countIn).toBe(data.count)
    return { paths, count: data.count }
  }

  it('needs one request on any screen, and follows a change that is made elsewhere', async () => {
    const { paths, count } = await openTokens()
    expect(paths.some((path) => path.endsWith('/api/v1/overview'))).toBe(false)
    await expect.poll(() => openStreams(carol.page)).toEqual(['/api/v1/events'])
    await addChannel('first@example.com')
    await expect.poll(countIn).toBe(count + 1)
  })

  it('follows the changes of the tab itself where it gets no events', async () => {
    await carol.page.route('**/api/v1/events*', (route) => route.abort())
    const { count } = await openTokens()
    await addChannel('second@example.com')
    await carol.page.getByLabel('Token name').fill('of this tab')
    await carol.page.getByRole('button', { name: 'Create token' }).click()
    await expect.poll(countIn).toBe(count + 1)
  })
})

const moduleOf = (path: string) => /^\/\w+/.exec(path)?.[0]

/** `$` is the id of a missing object, which the screen reports. */
const SCREENS = [
  '/home',
  '/check',
  '/addresses/192.0.2.1',
  '/hooks',
  '/hooks/HOOK',
  '/hooks/HOOK/settings',
  '/hooks/HOOK/rules',
  '/hooks/HOOK/destinations',
  '/dmarc',
  '/dmarc/rejected',
  '/dmarc/mailboxes',
  '/dmarc/$',
  '/dmarc/$/reports',
  '/dmarc/$/tls',
  '/dmarc/$/record',
  '/monitoring',
  '/monitoring/lists',
  '/monitoring/$',
  '/monitoring/$/settings',
  '/delisting',
  '/delisting/new',
  '/delisting/$',
  '/migrations',
  '/migrations/new',
  '/migrations/$',
  '/attacks',
  '/attacks/servers',
  '/attacks/list',
  '/attacks/administration',
  '/attacks/federation',
  '/tokens',
  '/alerts',
  '/alerts/history',
  '/alerts/channels',
  '/alerts/channels/new',
  '/alerts/channels/new/ntfy',
  '/alerts/channels/guide/ntfy',
  '/alerts/rules',
  '/account',
  '/administration',
  '/administration/accounts',
  '/administration/audit',
]
