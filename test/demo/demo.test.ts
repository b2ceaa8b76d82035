import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isSafe } from '../../src/http/access.ts'
import { recordRouteAccess, type RouteAccess } from '../../src/http/route-access.ts'
import { overflow, visit } from '../browser/browsing.ts'
import { MAX_SHIFT, OBSERVE, type Shift } from '../browser/walk.ts'
import { freshDatabase } from '../database.ts'
import { freePort } from '../free-port.ts'
import { addAccount } from '../people.ts'
import { sharedChromium } from '../servers/chromium.ts'
import { startTestService } from '../service.ts'
import { enterDemo, runDemo, startTestDemo, type TestDemo } from './demo.ts'

let demo: TestDemo
let browser: Browser
beforeAll(async () => {
  ;[demo, browser] = await Promise.all([startTestDemo(), sharedChromium()])
})
afterAll(() => demo.stop())

/** The status of an answer, and whether a demo refused the request. */
const answerOf = async (path: string, init: RequestInit = {}) => {
  const response = await fetch(`${demo.url}${path}`, init)
  const isRefusal = (await response.text()).includes('This demo is read-only')
  return `${response.status}${isRefusal ? ' demo' : ''}`
}

/** Where a visitor comes and goes. */
const ALLOWED = ['/api/auth/sign-out']

it('refuses every request that would change something', async () => {
  let routes: RouteAccess[] = []
  const service = await startTestService({}, (app) => (routes = recordRouteAccess(app)))
  await service.stop()
  const changes = routes.filter(({ method, path }) => !isSafe(method) && !ALLOWED.includes(path))
  expect(changes.length).toBeGreaterThan(100)
  const answers = await Promise.all(
    changes.map(async ({ method, path }) => {
      const url = path.replaceAll(/:\w+/g, '00000000-0000-7000-8000-000000000000')
      return `${method} ${path}: ${await answerOf(url, { method })}`
    }),
  )
  expect(answers.filter((answer) => !answer.endsWith(': 403 demo'))).toEqual([])
  for (const method of ['GET', 'POST'])
    expect(await answerOf('/webhooks/Ab3dE5fG7h', { method })).toBe('403 demo')
})

/** Screens and words of the example that they show. */
const SCREENS: [path: string, words: string][] = [
  ['/home', '203.0.113.40 is on 3 blocklists'],
  ['/domains/seagull.example', '1 problem'],
  ['/check?q=203.0.113.40', 'bl.spamcop.net'],
  ['/check?q=seagull.example', 'Enforced: receivers treat spoofed mail'],
  ['/dmarc', 'seagull-shop.example'],
  ['/monitoring', 'Newsletter'],
  ['/delisting', '192.0.2.25'],
  ['/alerts', 'is listed on SpamCop'],
  ['/alerts/history', 'Delisting 203.0.113.40'],
  ['/hooks', 'GitHub: seagull/shop'],
  ['/migrations', 'info@seagull.example'],
  ['/migrations/batches', 'Move to our own server'],
  ['/attacks', 'Reports'],
  ['/attacks/servers', 'shop'],
  ['/attacks/fleet', '203.0.113.7'],
  ['/attacks/networks', 'Rented servers'],
  ['/workspace/members', 'Clara Voss'],
  ['/administration', 'All 7 critical blocklists answer'],
]

it('shows its example on every screen, and contacts no other host', async () => {
  const { page, complaints, close } = await visit(browser, demo.url, 390)
  await page.addInitScript(OBSERVE)
  await enterDemo(page)
  for (const [path, words] of SCREENS) {
    await page.goto(path)
    await page.getByText(words).first().waitFor()
    await page.getByText('This demo is read-only.').waitFor()
    expect(await overflow(page), path).toBeLessThanOrEqual(0)
    const shifts = await page.evaluate<Shift[]>('takeShifts()')
    expect(
      shifts.filter(({ value }) => value > MAX_SHIFT),
      path,
    ).toEqual([])
  }
  expect(complaints).toEqual([])
  const headers = {
    cookie: (await page.context().cookies())
      .map(({ name, value }) => `${name}=${value}`)
      .join('; '),
  }
  expect(await answerOf('/api/v1/dns-check?domain=seagull.example', { headers })).toBe('200')
  expect(await answerOf('/api/v1/dns-check?domain=example.com', { headers })).toBe('403')
  await close()
  expect(demo.connections()).toEqual([])
})

it('begins again each day, with data of that day', async () => {
  const { page, close } = await visit(browser, demo.url)
  const workspaceId = async () => {
    await page.request.post('/api/v1/demo/session', { headers: { origin: demo.url } })
    const response = await page.request.get('/api/v1/account')
    const { data } = (await response.json()) as { data: { workspace: { id: string } } }
    return data.workspace.id
  }
  const before = await workspaceId()
  demo.nextDay()
  // It does not listen in between.
  await expect.poll(() => workspaceId().catch(() => '')).not.toMatch(new RegExp(`^(?:${before})?$`))
  await close()
})

it('does not start on the data of others', async () => {
  const database = await freshDatabase()
  await addAccount(database.db, { email: 'a@example.com', password: 'a password', plan: 'free' })
  const { ended } = runDemo(database.url, await freePort(), '/dev/null')
  expect(await ended).toContain('DEMO=true needs an empty database')
  expect(await database.db.selectFrom('account').select('email').execute()).toHaveLength(1)
  await database.drop()
})
