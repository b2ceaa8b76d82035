import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { faultsAtAllWidths, signedIn, visit, type Visit } from './browsing.ts'

/**
 * A screen: how to recognize it, actions before it is checked again, and expected browser messages.
 */
type Screen = {
  at: string
  shows: string
  acts?: ((page: Page) => Promise<void>)[]
  except?: RegExp
}

/** Screens before the first account exists. */
const AT_FIRST: Screen[] = [
  { at: '/', shows: 'Keep your mail' },
  { at: '/setup', shows: 'Create your admin account' },
  {
    at: '/setup?with=link#token',
    shows: 'Create your admin account',
    acts: [(page) => page.getByRole('button', { name: 'Create account' }).click()],
  },
]

/** Public screens, one per line. */
const OPEN: Screen[] = [
  { at: '/sign-in', shows: 'Sign in' },
  { at: '/sign-up', shows: 'This link is incomplete' },
  { at: '/sign-up?with=link#token', shows: 'Confirm your account' },
  // It closes the tab that a script opened, which this one is not.
  { at: '/signed-in', shows: 'Close this tab', except: /may close only the windows/ },
  { at: '/invitation', shows: 'This link is incomplete' },
  { at: '/address', shows: 'Listing rules' },
  { at: '/network', shows: 'Report attacks from your server' },
  { at: '/nothing/here', shows: 'Page not found' },
]

/** Screens of an account, one per line. Ids that begin with `:` are created below. */
const OWN: Screen[] = [
  {
    at: '/home',
    shows: 'Monitored hosts',
    acts: [(page) => page.getByText('Watched domains').waitFor()],
  },
  { at: '/domains', shows: 'Type a domain to see everything' },
  { at: '/domains/example.test', shows: 'example.test', except: /status of 4\d\d/ },
  { at: '/check', shows: 'Domain or IPv4 address' },
  {
    at: '/check?q=example.test',
    shows: 'The name resolves',
    // Addresses for documentation are never contacted.
    except: /status of 403/,
    acts: [(page) => page.getByText('API', { exact: true }).last().click()],
  },
  {
    at: '/tokens',
    shows: 'Your tokens',
    acts: [
      async (page) => {
        await page.getByRole('button', { name: 'Create token' }).click()
        await page.getByText('Token created').waitFor()
      },
      (page) => page.getByRole('button', { name: 'Revoke tests' }).click(),
    ],
  },
  { at: '/workspace', shows: 'Workspace name' },
  { at: '/workspace/members', shows: 'Invite another member first.' },
  {
    at: '/workspace/invitations',
    shows: 'No open invitations.',
    acts: [(page) => page.getByRole('button', { name: 'Create invitation' }).click()],
  },
  { at: '/workspace/audit', shows: 'kept for 400 days' },
  { at: '/workspaces', shows: 'All workspaces' },
  { at: '/account', shows: 'last used' },
  { at: '/administration', shows: 'Health checks' },
  { at: '/administration/accounts', shows: 'New account' },
  { at: '/administration/workspaces', shows: 'Storage' },
  { at: '/administration/mail-providers', shows: 'Redirect URI' },
  { at: '/administration/audit', shows: 'kept for 400 days' },
  { at: '/dmarc', shows: 'Choose report files' },
  { at: '/dmarc/:domain', shows: 'No messages reported yet' },
  { at: '/dmarc/:domain/reports', shows: 'No matches' },
  { at: '/dmarc/:domain/sources/192.0.2.1', shows: 'No messages from this source in this period.' },
  { at: '/dmarc/:domain/tls', shows: 'v=TLSRPTv1' },
  { at: '/dmarc/:domain/record', shows: 'Ownership' },
  { at: '/dmarc/rejected', shows: 'No rejected reports' },
  { at: '/dmarc/mailboxes', shows: 'Add a mailbox' },
  { at: '/monitoring', shows: 'outgoing mail' },
  { at: '/monitoring/:host', shows: 'Change log' },
  { at: '/monitoring/:host/settings', shows: 'SpamCop' },
  { at: '/monitoring/lists', shows: 'SpamCop' },
  { at: '/delisting', shows: 'No delistings yet' },
  { at: '/delisting/new?ip=8.8.4.4', shows: 'Cause of the listing' },
  {
    at: '/alerts',
    shows: 'No alerts are muted.',
    acts: [(page) => page.getByRole('button', { name: 'Mute a topic' }).click()],
  },
  { at: '/alerts/history', shows: 'This service can’t send email.' },
  {
    at: '/alerts/channels',
    shows: 'Email not configured',
    acts: [(page) => page.getByRole('button', { name: 'Edit' }).click()],
  },
  { at: '/alerts/channels/new', shows: 'Microsoft Teams' },
  { at: '/alerts/channels/new/ntfy', shows: 'Topic' },
  { at: '/alerts/channels/guide/ntfy', shows: 'End of a problem' },
  {
    at: '/alerts/rules',
    shows: 'No rules yet',
    acts: [
      (page) => page.getByLabel('Quiet hours').check(),
      (page) => page.getByLabel('Escalation').check(),
      (page) => page.getByRole('button', { name: 'Show channels' }).click(),
    ],
  },
  { at: '/attacks', shows: 'No reports yet' },
  { at: '/attacks/servers', shows: 'No servers yet' },
  { at: '/attacks/fleet', shows: 'No banned addresses' },
  { at: '/attacks/relays', shows: 'AbuseIPDB' },
  { at: '/attacks/mails', shows: 'This service does not send email.' },
  { at: '/attacks/networks', shows: 'No networks yet' },
  { at: '/attacks/feeds', shows: 'Hijacked networks.' },
  { at: '/attacks/connect', shows: 'Create token and key' },
  { at: '/attacks/federation', shows: 'No peers yet' },
  { at: '/attacks/list?format=nftables', shows: 'Replaces two sets' },
  { at: '/hooks', shows: 'shop orders' },
  { at: '/hooks/:waiting', shows: 'Waiting for the first request' },
  {
    at: '/hooks/:hook',
    shows: '2 requests',
    acts: [
      async (page) => {
        await page.getByRole('option', { name: '/a/long/path' }).click()
        await page.getByText('"hello"').waitFor()
      },
      ...['Headers', 'Query', 'Compare'].map(
        (name) => (page: Page) => page.getByRole('tab', { name }).click(),
      ),
    ],
  },
  { at: '/hooks/:hook/settings', shows: 'Settings for shop orders' },
  { at: '/migrations', shows: 'somebody.with.a.long.name' },
  {
    at: '/migrations/new',
    shows: 'Source mailbox',
    acts: [
      async (page) => {
        await page.getByText('Port and security').click()
        await page.getByRole('button', { name: 'Test and list folders' }).click()
      },
    ],
  },
  { at: '/migrations/sign-ins', shows: 'Add a sign-in for all mailboxes' },
  { at: '/migrations/:migration', shows: 'Retry failed messages' },
]

/** Milliseconds: axe runs three times for each state of a screen. */
const PATIENCE = 60_000

let browser: Browser
let dns: DnsServer
let portreeve: TestService
beforeAll(async () => {
  dns = await startDns({
    records: { 'example.test A': ['192.0.2.10'], 'example.test NS': ['ns1.example.test'] },
  })
  portreeve = await startTestService({
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${dns.port}`,
  })
  browser = await sharedChromium()
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
  await dns.close()
})

async function expectFaultless(
  { page, complaints }: Visit,
  { at, shows, acts = [], except = /^$/ }: Screen,
): Promise<void> {
  complaints.length = 0
  await page.goto(at)
  await page.getByText(shows).first().waitFor()
  expect(await faultsAtAllWidths(page)).toEqual([])
  for (const act of acts) {
    await act(page)
    expect(await faultsAtAllWidths(page)).toEqual([])
  }
  expect(complaints.filter((complaint) => !except.test(complaint))).toEqual([])
}

describe.each([AT_FIRST, OPEN])('at every width, in both themes', (...screens) => {
  let visitor: Visit
  beforeAll(async () => void (visitor = await visit(browser, portreeve.url)))
  afterAll(() => visitor.close())

  it.each(screens)(
    '$at meets WCAG 2.2 AA and never scrolls sideways',
    { timeout: PATIENCE },
    (screen) => expectFaultless(visitor, screen),
  )
})

describe('signed in, at every width, in both themes', () => {
  let alice: Visit
  let made: Record<string, string>
  beforeAll(async () => {
    alice = await signedIn(browser, portreeve, 'Alice', 1440, { plan: 'pro', admin: true })
    made = await makeThings(alice.page)
  })
  afterAll(() => alice.close())

  it.each(OWN)(
    '$at meets WCAG 2.2 AA and never scrolls sideways',
    { timeout: PATIENCE },
    ({ at, ...screen }) =>
      expectFaultless(alice, {
        at: at.replace(/:(\w+)/g, (_, name: string) => made[name] ?? name),
        ...screen,
      }),
  )
})

/** What the screens above show, by the name in their address. */
async function makeThings({ request }: Page): Promise<Record<string, string>> {
  async function post<T>(path: string, data: object): Promise<T> {
    const answer = await request.post(path, { data, headers: { origin: portreeve.url } })
    expect([path, answer.ok()]).toEqual([path, true])
    return (await answer.json()) as T
  }
  const signature = { scheme: 'hmac', header: 'X-Signature', secret: 'x' }
  const hook = await post<Made>('/api/webhook/endpoints', { label: 'shop orders', signature })
  const { token } = hook.endpoint
  await request.post(`/webhooks/${token}/a/long/path?with=query&and=more`, {
    data: { hello: [1, null] },
  })
  await request.post(`/webhooks/${token}`, {
    form: { name: 'value' },
    headers: { 'x-signature': 'no' },
  })
  const waiting = await post<Made>('/api/webhook/endpoints', {})

  const nowhere = {
    host: '127.0.0.1',
    port: 1,
    user: 'somebody.with.a.long.name@example.com',
    password: 'x',
  }
  const wanted = { source: nowhere, destination: nowhere, folders: ['INBOX'] }
  const { migrationId: migration } = await post<{ migrationId: string }>(
    '/api/v1/imap/migrate',
    wanted,
  )
  const domain = await post<MadeData>('/api/v1/dmarc/domains', { domain: 'example.test' })
  const watched = { host: 'example.test', label: 'outgoing mail', tlsPorts: [] }
  const host = await post<MadeData>('/api/v1/monitoring/hosts', watched)
  await post('/api/v1/domains/example.test/watch', {})
  return {
    hook: hook.endpoint.id,
    waiting: waiting.endpoint.id,
    migration,
    domain: domain.data.id,
    host: host.data.id,
  }
}

type Made = { endpoint: { id: string; token: string } }
type MadeData = { data: { id: string } }

describe('with the keyboard alone', () => {
  it('the first stop skips the navigation', async () => {
    const { page, close } = await signedIn(browser, portreeve, 'Bob')
    await page.goto('/tokens')
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.name')).toBe('label')
    await close()
  })

  it('a new screen focuses its heading', async () => {
    const { page, close } = await signedIn(browser, portreeve, 'Charlie')
    await page.goto('/home')
    await page.getByRole('link', { name: 'Account', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Account')
    expect(await page.title()).toBe('Account · Portreeve')
    await close()
  })
})
