import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { aggregate, daysAgo } from '../dmarc/reports.ts'
import { accountOn, fill } from '../migration/mailbox.ts'
import { startLists } from '../servers/blacklists.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { startProxy, type Proxy } from '../servers/proxy.ts'
import type { Rbldnsd } from '../servers/rbldnsd.ts'
import { startTestService, type Person, type TestService } from '../service.ts'

const FOLDER = join(import.meta.dirname, '../../docs/screenshots')
const LISTED = '8.8.4.4'
const HOSTS = {
  'mail.example.com': { address: '9.9.9.9', label: 'outgoing mail' },
  'relay.example.com': { address: LISTED, label: 'newsletter' },
  'shop.example.com': { address: '9.9.9.10', label: 'shop' },
}

let lists: Rbldnsd
let dns: DnsServer
let sink: Sink
let source: MailServer
let destination: MailServer
let slow: Proxy
let portreeve: TestService
let browser: Browser
let anna: Person
beforeAll(async () => {
  ;[lists, dns, sink, source, destination] = await Promise.all([
    startLists({}, { ttl: 1, negativeTtl: 1 }),
    startDns(),
    startSink(),
    startDovecot(),
    startDovecot(),
  ])
  await lists.setZones({
    'bl.spamcop.net': { listed: { [LISTED]: '127.0.0.2 Blocked - see https://spamcop.net' } },
    'b.barracudacentral.org': { listed: { [LISTED]: '127.0.0.2' } },
  })
  for (const [name, { address }] of Object.entries(HOSTS)) {
    dns.records[`${name} A`] = [address]
    dns.records[`${address.split('.').toReversed().join('.')}.in-addr.arpa PTR`] = [name]
  }
  dns.records['_dmarc.example.com TXT'] = ['v=DMARC1; p=none; rua=mailto:reports@example.com']
  slow = await startProxy(destination.port, { roundTrip: 600 })
  portreeve = await startTestService({
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${lists.port}`,
    REPORT_DOMAIN: 'reports.example.com',
    SMTP_URL: sink.url,
    MAIL_FROM: 'Portreeve <alerts@example.com>',
  })
  anna = await portreeve.addPerson('Anna', { plan: 'enterprise' })
  browser = await sharedChromium()
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
  await slow.close()
  await Promise.all([source.stop(), destination.stop(), lists.stop(), dns.close(), sink.stop()])
})

async function call<T>(path: string, body?: object): Promise<T> {
  const response = await portreeve.request(path, {
    token: anna.token,
    ...(body && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }),
  })
  expect(response.ok, `${path} ${response.status}`).toBe(true)
  return (await response.json()) as T
}

async function openPage(height: number, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
  const context = await browser.newContext({
    baseURL: portreeve.url,
    viewport: { width: 1440, height },
    colorScheme,
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  const { email, password } = anna
  await page.request.post('/api/auth/sign-in/email', {
    data: { email, password },
    headers: { origin: portreeve.url },
  })
  return page
}

const PHONE = { width: 390, height: 844 }

/** Takes the picture NAME.png, and with `alsoOnPhone` NAME-phone.png of the same page. */
async function capture(page: Page, name: string, { alsoOnPhone = false } = {}): Promise<void> {
  const take = (file: string) =>
    page.screenshot({ path: join(FOLDER, `${file}.png`), caret: 'hide' })
  // The picture shows no caret, hover or scroll bar.
  await page.mouse.move(0, 0)
  await take(name)
  if (alsoOnPhone) {
    await page.setViewportSize(PHONE)
    await page.evaluate('new Promise(requestAnimationFrame)')
    await take(`${name}-phone`)
  }
  await page.context().close()
}

it('a check of an address', async () => {
  const page = await openPage(800)
  await page.goto(`/check?q=${LISTED}`)
  await page.getByText('bl.spamcop.net').first().waitFor({ timeout: 30_000 })
  await capture(page, 'check')
})

it('the DMARC summary of a domain', async () => {
  const { data } = await call<{ data: { id: string } }>('/api/v1/dmarc/domains', {
    domain: 'example.com',
  })
  for (let day = 1; day <= 29; day++) {
    const weekday = new Date(daysAgo(day) * 1000).getUTCDay()
    const count = weekday === 0 || weekday === 6 ? 150 + day * 4 : 420 + ((day * 37) % 110)
    const isSpoofed = day >= 11 && day <= 14
    const report = aggregate({
      domain: 'example.com',
      org: 'google.com',
      begin: daysAgo(day),
      rows: [
        { ip: '192.0.2.10', count },
        { ip: '203.0.113.25', count: Math.round(count / 6), spf: 'fail', selector: 'news' },
        {
          ip: '198.51.100.7',
          count: isSpoofed ? 90 + day : 7,
          dkim: 'fail',
          spf: 'fail',
          envelope: ['bulk.example.net', 'pass'],
        },
      ],
    })
    const form = new FormData()
    form.set('file', new Blob([report]), `google.com!example.com!${day}.xml`)
    const response = await portreeve.request('/api/v1/dmarc/reports', {
      method: 'POST',
      token: anna.token,
      body: form,
    })
    expect(response.ok, await response.text()).toBe(true)
  }
  const page = await openPage(900)
  await page.goto(`/dmarc/${data.id}`)
  await page.getByRole('heading', { name: 'Messages per day' }).waitFor()
  await capture(page, 'dmarc')
})

it('captured webhooks', async () => {
  const { endpoint } = await call<{ endpoint: { id: string; token: string; url: string } }>(
    '/api/webhook/endpoints',
    { label: 'GitHub' },
  )
  const events = ['ping', 'push', 'issues', 'pull_request', 'push', 'release']
  for (const [n, event] of events.entries()) {
    const body = {
      action: event === 'push' ? undefined : 'opened',
      ref: 'refs/heads/main',
      repository: { id: 4_711, full_name: 'example/shop', private: true },
      sender: { login: 'anna', id: 42 },
      number: n + 1,
    }
    await fetch(`${portreeve.url}/webhooks/${endpoint.token}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'GitHub-Hookshot/044aadd',
        'x-github-event': event,
        'x-github-delivery': `7f3c1d2e-0000-4000-8000-00000000000${n}`,
      },
      body: JSON.stringify(body),
    })
  }
  const page = await openPage(800, 'dark')
  await page.goto(`/hooks/${endpoint.id}`)
  await page.getByText('refs/heads/main').first().waitFor()
  await capture(page, 'webhooks', { alsoOnPhone: true })
})

it('a running migration, and the overview', async () => {
  await source.addUser('anna', 'secret')
  await destination.addUser('anna', 'secret')
  const letters = (count: number) =>
    Array.from({ length: count }, (_, n) => ({ body: `Message ${n}\r\n`.repeat(200) }))
  await fill(accountOn(source.port, 'anna'), {
    INBOX: letters(900),
    Sent: letters(400),
    'Archive/2024': letters(700),
    'Archive/2025': letters(600),
  })
  for (const [host, { label }] of Object.entries(HOSTS))
    // The certificates of these addresses are those of others.
    await call('/api/v1/monitoring/hosts', { host, label, tlsPorts: [] })
  await vi.waitFor(
    async () => {
      const { data } = await call<{ data: { lastCheckAt: string | null }[] }>(
        '/api/v1/monitoring/hosts',
      )
      expect(data.filter(({ lastCheckAt }) => lastCheckAt !== null)).toHaveLength(3)
    },
    { timeout: 60_000, interval: 500 },
  )
  await call('/api/v1/delisting', { ip: LISTED })
  const account = (port: number) => ({
    host: '127.0.0.1',
    port,
    secure: false,
    user: 'anna',
    password: 'secret',
  })
  const { migrationId } = await call<{ migrationId: string }>('/api/v1/imap/migrate', {
    source: account(source.port),
    destination: account(slow.port),
    folders: ['INBOX', 'Sent', 'Archive/2024', 'Archive/2025'],
  })
  const overview = await openPage(900)
  const migration = await openPage(900)
  await migration.goto(`/migrations/${migrationId}`)
  await overview.goto('/home')
  await migration
    .getByText(/messages\/s/)
    .first()
    .waitFor({ timeout: 60_000 })
  await overview.getByText('In progress').first().waitFor()
  await capture(overview, 'overview', { alsoOnPhone: true })
  await capture(migration, 'migration', { alsoOnPhone: true })
})
