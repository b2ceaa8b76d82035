import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startNginx, type Nginx } from '../deploy/nginx.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { openStreams, recordStreams, signIn, visit } from './browsing.ts'

/** Twelve tabs, twice as many as a browser has connections over HTTP/1.1. */
const SCREENS = [
  '/hooks',
  '/hooks/ID',
  '/monitoring',
  '/home',
  '/hooks',
  '/domains/example.com',
  '/migrations',
  '/check?q=192.0.2.1',
  '/domains/example.net',
  '/check?q=192.0.2.2',
  '/hooks',
  '/check?q=192.0.2.3',
]
/** Milliseconds in which another tab must take over: half of what a hidden tab keeps its stream. */
const TAKE_OVER_MS = 30_000

const browser = await sharedChromium()
let portreeve: TestService
let nginx: Nginx
let person: Person
beforeAll(async () => {
  // Blocklists do not answer: each check takes as long as it may.
  const nowhere = { DNS_SERVERS: '127.0.0.1:1', DNSBL_SERVERS: '127.0.0.1:1' }
  portreeve = await startTestService({ TRUSTED_PROXIES: '127.0.0.1', ...nowhere })
  nginx = await startNginx([portreeve.wire])
  person = await portreeve.addPerson('Alice')
})
afterAll(async () => {
  await closeContexts(browser)
  await nginx.stop()
  await portreeve.stop()
})

async function addEndpoint(label: string): Promise<string> {
  const answer = await portreeve.request('/api/webhook/endpoints', {
    method: 'POST',
    token: person.token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ label }),
  })
  expect(answer.status).toBe(201)
  return ((await answer.json()) as { endpoint: { id: string } }).endpoint.id
}

/** The tabs that have the stream. */
async function holdersOf(tabs: Page[]): Promise<Page[]> {
  const counts = await Promise.all(tabs.map(async (tab) => (await openStreams(tab)).length))
  return tabs.filter((_tab, at) => (counts[at] ?? 0) > 0)
}

async function holderOf(tabs: Page[]): Promise<Page> {
  await expect.poll(async () => (await holdersOf(tabs)).length).toBe(1)
  return (await holdersOf(tabs))[0] as Page
}

async function openTab(context: BrowserContext, path: string): Promise<Page> {
  const tab = await context.newPage()
  await recordStreams(tab)
  await tab.goto(path)
  await tab.locator('h1').first().waitFor()
  return tab
}

describe.each([
  ['the service', () => portreeve.url],
  ['nginx', () => nginx.url],
])('twelve tabs over HTTP/1.1, from %s', (_name, url) => {
  let context: BrowserContext
  const tabs: Page[] = []
  const lists = () => tabs.filter((tab) => tab.url().endsWith('/hooks'))
  const added = async (label: string) => {
    await addEndpoint(label)
    for (const tab of lists()) await tab.getByRole('link', { name: label }).waitFor()
  }

  it('load as one does, with one stream', async () => {
    const id = await addEndpoint('first')
    const first = await visit(browser, url())
    context = first.page.context()
    await signIn(first, portreeve, person)
    await first.page.close()
    for (const screen of SCREENS) tabs.push(await openTab(context, screen.replace('ID', id)))
    await holderOf(tabs)
  })

  it('all receive changes', async () => {
    await added(`added at ${url()}`)
  })

  it('go on when the tab with the stream is closed, and miss nothing', async () => {
    const holder = await holderOf(tabs)
    tabs.splice(tabs.indexOf(holder), 1)
    const [endpoint] = await Promise.all([addEndpoint(`meanwhile at ${url()}`), holder.close()])
    expect(endpoint).toBeTruthy()
    for (const tab of lists())
      await tab.getByRole('link', { name: `meanwhile at ${url()}` }).waitFor()
    await holderOf(tabs)
    await added(`after it was closed at ${url()}`)
  })
})

describe('the stream of several tabs', () => {
  let context: BrowserContext
  let tabs: Page[]
  beforeAll(async () => {
    const first = await visit(browser, portreeve.url)
    context = first.page.context()
    await signIn(first, portreeve, person)
    await first.page.close()
    tabs = []
    const id = await addEndpoint('shown')
    for (const screen of ['/hooks', `/hooks/${id}`, '/hooks', '/hooks'])
      tabs.push(await openTab(context, screen))
  })

  /** Ends once another tab has the stream. */
  async function passOn(holder: Page, lose: () => Promise<unknown>): Promise<void> {
    const others = tabs.filter((tab) => tab !== holder)
    const lost = lose()
    await expect
      .poll(async () => (await holdersOf(others)).length, { interval: 20, timeout: TAKE_OVER_MS })
      .toBe(1)
    await lost
  }

  async function showsOn(shown: Page[], label: string): Promise<void> {
    await addEndpoint(label)
    for (const tab of shown)
      if (tab.url().endsWith('/hooks')) await tab.getByRole('link', { name: label }).waitFor()
  }

  it('is taken over from a hidden tab, whose stream lasts until then', async () => {
    const holder = await holderOf(tabs)
    const links = await watchLinks(tabs[1] as Page)
    await passOn(holder, () => setHidden(holder, true))
    await holderOf(tabs)
    await showsOn(tabs, 'while one is hidden')
    await setHidden(holder, false)
    expect(await links()).toEqual([])
  })

  it('is taken over from a frozen tab, which catches up when it is shown again', async () => {
    const holder = await holderOf(tabs)
    await passOn(holder, () => tellPage(holder, 'freeze'))
    const others = tabs.filter((tab) => tab !== holder)
    await showsOn(others, 'while one is frozen')
    await tellPage(holder, 'resume')
    await showsOn(tabs, 'after the thaw')
    await holderOf(tabs)
  })

  it('is taken over when a tab crashes', async () => {
    const holder = await holderOf(tabs)
    const session = await context.newCDPSession(holder)
    const crashed = holder.waitForEvent('crash')
    session.send('Page.crash').catch(() => undefined)
    await crashed
    tabs = tabs.filter((tab) => tab !== holder)
    await passOn(holder, async () => undefined)
    await showsOn(tabs, 'after the crash')
    await holder.close()
  })

  it('is kept on the way back in the history', async () => {
    const holder = await holderOf(tabs)
    await passOn(holder, () => holder.goto('/docs'))
    await holder.goBack()
    await showsOn(tabs, 'after the way back')
    await holderOf(tabs)
  })

  it('is another one in another workspace', async () => {
    const { id } = await portreeve.addWorkspace(person)
    const others = [
      await openTab(context, `/tokens?workspace=${id}`),
      await openTab(context, `/hooks?workspace=${id}`),
    ]
    await holderOf(others)
    await holderOf(tabs)
    await Promise.all(others.map((tab) => tab.close()))
  })

  it('ends with the session, and every tab asks for a sign-in', async () => {
    await context.request.post('/api/auth/sign-out', {
      data: {},
      headers: { origin: portreeve.url },
    })
    for (const tab of tabs)
      await tab.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
    await expect.poll(() => holdersOf(tabs)).toEqual([])
    const [page] = tabs
    if (page) await signIn({ page }, portreeve, person)
    tabs.push(await openTab(context, '/tokens'))
    await holderOf(tabs)
  })
})

/** Chromium shows all tabs of a headless run, and freezes none: the page is told otherwise. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} })`,
  )
  await tellPage(page, 'visibilitychange')
}

const tellPage = (page: Page, event: string) =>
  page.evaluate(`document.dispatchEvent(new Event('${event}'))`)

/** @returns gives the states of the stream that the tab has shown meanwhile */
async function watchLinks(tab: Page): Promise<() => Promise<string[]>> {
  await tab.locator('[data-link=live]').waitFor()
  await tab.evaluate(`window.links = []
    new MutationObserver(([{ target }]) => links.push(target.dataset.link))
      .observe(document.body, { subtree: true, attributeFilter: ['data-link'] })`)
  return () => tab.evaluate<string[]>('links')
}
