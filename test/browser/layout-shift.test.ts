import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { aggregate, daysAgo } from '../dmarc/reports.ts'
import { IP } from '../servers/blacklists.ts'
import { visit, type Visit } from './browsing.ts'
import { NAME, startMailPlace, type MailPlace } from './mail-place.ts'

/** The limit of “good” is 0.1; a page that only replaces its outline stays far below. */
const MAX_SHIFT = 0.05

/** Milliseconds after the heading in which a page becomes complete. */
const QUIET_MS = 1_000

/** Delays each answer, so that outlines are shown as on a real network. */
const LATENCY_MS = 150

const WIDTHS = [390, 1440]

const OPEN = ['/', '/sign-in', '/forgot-password', '/address', '/network', '/signed-in', '/nothing']

/** Every screen of an account. Ids that begin with `:` are created below. */
const OWN = [
  '/home',
  '/domains',
  '/domains/example.test',
  '/domains/first-check.test',
  '/check',
  '/hooks',
  '/hooks/:hook',
  '/hooks/:hook/settings',
  '/dmarc',
  '/dmarc/rejected',
  '/dmarc/mailboxes',
  '/dmarc/:domain',
  '/dmarc/:domain/sources/192.0.2.10',
  '/dmarc/:domain/reports',
  '/dmarc/:domain/reports/:report',
  '/dmarc/:domain/tls',
  '/dmarc/:domain/record',
  '/monitoring',
  '/monitoring/lists',
  '/monitoring/:host',
  '/monitoring/:host/settings',
  '/delisting',
  '/delisting/new',
  '/delisting/:delisting',
  '/migrations',
  '/migrations/new',
  '/migrations/:migration',
  '/attacks',
  '/attacks/servers',
  '/attacks/list',
  '/attacks/administration',
  '/attacks/federation',
  '/tokens',
  '/workspace',
  '/workspace/members',
  '/workspace/invitations',
  '/workspace/audit',
  '/workspaces',
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
  '/administration/workspaces',
  '/administration/audit',
]

const OBSERVE = `window.shifts = []
  new PerformanceObserver((list) => {
    for (const { value, startTime, hadRecentInput, sources } of list.getEntries())
      if (!hadRecentInput) shifts.push({ value, startTime, moved: sources.map(({ node, previousRect, currentRect }) =>
        (node?.outerHTML ?? node?.textContent ?? '').slice(0, 120) + ' ' + previousRect.y + ' → ' + currentRect.y) })
  }).observe({ type: 'layout-shift', buffered: true })`

type Shift = { value: number; startTime: number; moved: string[] }

let place: MailPlace
let made: Record<string, string>
let alice: { email: string; password: string; token: string }
beforeAll(async () => {
  place = await startMailPlace()
  await place.lists.setZones({ 'bl.spamcop.net': { listed: { [IP]: '127.0.0.2' } } })
  alice = await place.portreeve.addPerson('Alice', { plan: 'pro', admin: true })
  made = await fillAccount()
})
afterAll(() => place.stop())

async function call<T>(path: string, body?: object): Promise<T> {
  const answer = await place.portreeve.request(path, {
    token: alice.token,
    ...(body && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  expect(answer.ok, `${path} ${answer.status}`).toBe(true)
  return (await answer.json()) as T
}

type Made = { data: { id: string } }

/** A week of everything. @returns ids by the names in the paths above */
async function fillAccount(): Promise<Record<string, string>> {
  const domain = await call<Made>('/api/v1/dmarc/domains', { domain: 'example.test' })
  for (let day = 1; day <= 7; day++) {
    const form = new FormData()
    const rows = [
      { ip: '192.0.2.10', count: 300 },
      { ip: '203.0.113.7', count: 12, dkim: 'fail' as const, spf: 'fail' as const },
    ]
    form.set('file', new Blob([aggregate({ begin: daysAgo(day), rows })]), `${day}.xml`)
    const { token } = alice
    const init = { method: 'POST', token, body: form }
    expect((await place.portreeve.request('/api/v1/dmarc/reports', init)).ok).toBe(true)
  }
  const { data: reports } = await call<{ data: { reports: { id: string }[] } }>(
    `/api/v1/dmarc/domains/${domain.data.id}/reports`,
  )
  const host = await call<Made>('/api/v1/monitoring/hosts', { host: NAME, label: 'outgoing mail' })
  await call('/api/v1/monitoring/hosts', { host: '9.9.9.9', label: 'shop' })
  await call(`/api/v1/monitoring/hosts/${host.data.id}/check`, {})
  // The overview has its cards of domains, whatever of them works.
  await call('/api/v1/domains/example.test/watch', {})
  type Watched = { data: { domains: { checkedAt: string | null }[] } }
  // Its first check changes the overview when it ends.
  await vi.waitFor(async () => {
    const { data } = await call<Watched>('/api/v1/domains?watched=true')
    expect(data.domains).toMatchObject([{ checkedAt: expect.any(String) }])
  }, 60_000)
  const delisting = await call<Made>('/api/v1/delisting', { ip: IP })
  const { endpoint } = await call<{ endpoint: { id: string; token: string } }>(
    '/api/webhook/endpoints',
    { label: 'shop orders' },
  )
  for (let count = 0; count < 12; count++) {
    await fetch(`${place.portreeve.url}/webhooks/${endpoint.token}/orders/${count}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ order: count }),
    })
  }
  const nowhere = { host: '127.0.0.1', port: 1, user: 'anna@example.com', password: 'x' }
  const { migrationId } = await call<{ migrationId: string }>('/api/v1/imap/migrate', {
    source: nowhere,
    destination: nowhere,
    folders: ['INBOX'],
  })
  await call('/api/v1/abuse/tokens', { label: 'mail server' }).catch(() => null)
  return {
    domain: domain.data.id,
    report: reports.reports[0]?.id ?? '',
    host: host.data.id,
    delisting: delisting.data.id,
    hook: endpoint.id,
    migration: migrationId,
  }
}

/** Cumulative layout shift as the web vital: the largest window of up to five seconds. */
async function shiftOf(page: Page, path: string): Promise<string> {
  await page.goto(path)
  await page.locator('h1').first().waitFor()
  await page.waitForTimeout(QUIET_MS)
  const shifts = await page.evaluate<Shift[]>('shifts')
  const sum = shifts.reduce((total, { value }) => total + value, 0)
  if (sum < MAX_SHIFT) return ''
  const worst = shifts.toSorted((one, other) => other.value - one.value).slice(0, 2)
  const lines = worst.map(({ value, moved }) => `${value.toFixed(3)} ${moved.join('\n      ')}`)
  return `${path} ${sum.toFixed(3)}\n   ${lines.join('\n   ')}`
}

/**
 * Records shifts, and delays the answers of the API. Chromium delays them itself: a route of
 * Playwright would turn its cache off, and every page would load and compile all scripts again.
 */
async function slowed(visitor: Visit): Promise<Visit> {
  const { page } = visitor
  await page.addInitScript(OBSERVE)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Network.enable')
  await devtools.send('Network.emulateNetworkConditionsByRule', {
    matchedNetworkConditions: [
      {
        urlPattern: `${place.portreeve.url}/api/*`,
        latency: LATENCY_MS,
        downloadThroughput: -1,
        uploadThroughput: -1,
      },
    ],
  })
  return visitor
}

/** Whether answers of the API reach the page late. If they did not, no outline would be tested. */
async function isDelayed(page: Page): Promise<boolean> {
  const milliseconds = await page.evaluate<number>(`(async () => {
    const start = performance.now()
    await fetch('/api/v1/overview')
    return performance.now() - start
  })()`)
  return milliseconds >= LATENCY_MS
}

describe.each(WIDTHS)('cumulative layout shift at %i pixels', (width) => {
  it('is small on public pages', { timeout: 120_000 }, async () => {
    const visitor = await slowed(await visit(place.browser, place.portreeve.url, width))
    const shifting: string[] = []
    for (const path of OPEN) shifting.push(await shiftOf(visitor.page, path))
    expect(shifting.filter(Boolean)).toEqual([])
    expect(await isDelayed(visitor.page)).toBe(true)
    await visitor.close()
  })

  it('is small on every page of a filled account', { timeout: 240_000 }, async () => {
    const visitor = await slowed(await visit(place.browser, place.portreeve.url, width))
    const answer = await visitor.page.request.post('/api/auth/sign-in/email', {
      data: { email: alice.email, password: alice.password },
      headers: { origin: place.portreeve.url },
    })
    expect(answer.ok()).toBe(true)
    const shifting: string[] = []
    for (const path of OWN) {
      const at = path.replace(/:(\w+)/g, (_, name: string) => made[name] ?? name)
      shifting.push(await shiftOf(visitor.page, at))
    }
    expect(shifting.filter(Boolean).join('\n')).toBe('')
    expect(await isDelayed(visitor.page)).toBe(true)
    await visitor.close()
  })
})
