import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEST_PATH } from '../base-path.ts'
import { PROGRAM, SURROUNDINGS } from '../cli/command.ts'
import { startNginx, type Nginx } from '../deploy/nginx.ts'
import { freePort } from '../free-port.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { CLIENT, startOpenIdProvider, type OpenIdProvider } from '../servers/openid-provider.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { heading, openStreams, recordStreams, visit, type Visit } from './browsing.ts'

/** One screen of each module, with its heading. */
const SCREENS = {
  '/home': /Good to see you/,
  '/check': 'Check',
  '/domains': 'Domains',
  '/hooks': 'Webhooks',
  '/dmarc': 'DMARC',
  '/monitoring': 'Servers & IPs',
  '/delisting': 'Delisting',
  '/migrations': 'Migrations',
  '/attacks': 'Attack reporting',
  '/tokens': 'API tokens',
  '/alerts': 'Problems',
  '/workspace': 'Workspace',
  '/account': 'Account',
  '/administration': 'Administration',
}

// With a path for all tests, each of them is this one.
describe.skipIf(TEST_PATH !== '')('below a path, behind nginx that passes on nothing else', () => {
  let base = ''
  let portreeve: TestService
  let nginx: Nginx
  let sink: Sink
  let provider: OpenIdProvider
  let person: Person
  let visitor: Visit
  let page: Page
  let authenticators: CDPSession

  beforeAll(async () => {
    const [port, nginxPort] = [await freePort(), await freePort()]
    base = `http://localhost:${nginxPort}/portreeve`
    provider = await startOpenIdProvider({ redirectUri: `${base}/api/auth/oidc/callback` })
    sink = await startSink()
    portreeve = await startTestService({
      PORT: String(port),
      BASE_URL: base,
      TRUSTED_PROXIES: '127.0.0.1',
      SMTP_URL: sink.url,
      MAIL_FROM: 'portreeve@portreeve.test',
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
      OIDC_NAME: 'Authelia',
    })
    nginx = await startNginx([portreeve.wire], { port: nginxPort, path: '/portreeve' })
    person = await portreeve.addPerson('Adele', { admin: true })
    visitor = await visit(await sharedChromium(), base)
    page = visitor.page
    await recordStreams(page)
    authenticators = await page.context().newCDPSession(page)
    await authenticators.send('WebAuthn.enable')
  })
  afterAll(async () => {
    await closeContexts(await sharedChromium())
    await nginx.stop()
    await portreeve.stop()
    await Promise.all([sink.stop(), provider.stop()])
  })

  async function api(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${person.token}`, ...(init.headers as object) }
    return fetch(`${base}${path}`, { ...init, headers })
  }
  const post = async <T>(path: string, body: object): Promise<T> => {
    const headers = { 'content-type': 'application/json' }
    const answer = await api(path, { method: 'POST', headers, body: JSON.stringify(body) })
    expect(answer.status).toBeLessThan(300)
    return (await answer.json()) as T
  }
  const section = (name: string) =>
    page.locator('section').filter({ has: page.getByRole('heading', { name, exact: true }) })
  async function signOut(): Promise<void> {
    await page.goto(`${base}/account`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL(`${base}/`)
  }

  it('asks for a sign-in, and then opens the screen of the address', async () => {
    await page.goto(`${base}/hooks?filter=x`)
    await page.getByLabel('Email').fill(person.email)
    await page.getByLabel('Password', { exact: true }).fill(person.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await heading(page, 'Webhooks').waitFor()
    expect(page.url()).toBe(`${base}/hooks?filter=x`)
    const cookies = await page.context().cookies()
    expect(new Set(cookies.map(({ path }) => path))).toEqual(new Set(['/portreeve']))
  })

  it('shows each module, by its address and by a link', async () => {
    for (const [path, name] of Object.entries(SCREENS)) {
      await page.goto(`${base}${path}`)
      await page.getByRole('heading', { level: 1, name }).waitFor()
    }
    await page.getByRole('navigation', { name: 'Settings' }).waitFor()
    await page.getByRole('link', { name: 'Servers & IPs', exact: true }).click()
    await page.waitForURL(`${base}/monitoring`)
    await page.goto(`${base}/docs`)
    await page.getByText(base, { exact: true }).first().waitFor()
  })

  it('streams changes, and captures requests', async () => {
    await page.goto(`${base}/hooks`)
    const { endpoint } = await post<{ endpoint: { id: string; token: string; url: string } }>(
      '/api/webhook/endpoints',
      { label: 'made elsewhere' },
    )
    await page.getByRole('link', { name: 'made elsewhere' }).click()
    expect(await openStreams(page)).toEqual(['/portreeve/api/v1/events'])
    expect(endpoint.url).toBe(`${base}/webhooks/${endpoint.token}`)
    await page.getByRole('button', { name: 'Send test request' }).click()
    await page.getByText('/test').first().waitFor()
    expect((await fetch(`${endpoint.url}/orders?id=1`, { method: 'POST' })).status).toBe(200)
    await page.getByText('/orders').first().waitFor()
  })

  it('captures a request that waits for 100 Continue', async () => {
    const { endpoint } = await post<{ endpoint: { token: string } }>('/api/webhook/endpoints', {})
    const url = `${portreeve.wire}/portreeve/webhooks/${endpoint.token}`
    const request = httpRequest(url, { method: 'POST', headers: { expect: '100-continue' } })
    request.flushHeaders()
    await once(request, 'continue')
    request.end('hello')
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    expect(answer.statusCode).toBe(200)
    answer.resume()
  })

  it('forwards captured requests with the command line', async () => {
    const received = Promise.withResolvers<string | undefined>()
    const local = createServer(({ url }, response) => {
      response.end()
      received.resolve(url)
    }).listen(0, '127.0.0.1')
    await once(local, 'listening')
    const { port } = local.address() as AddressInfo
    const { endpoints } = (await (await api('/api/webhook/endpoints')).json()) as {
      endpoints: { token: string }[]
    }
    const words = ['listen', endpoints[0]?.token ?? '', '--all', '--server', base]
    const env = { ...SURROUNDINGS, PORTREEVE_API_TOKEN: person.token }
    const to = ['--to', `http://127.0.0.1:${port}`]
    const command = spawn(process.execPath, [PROGRAM, ...words, ...to], { cwd: tmpdir(), env })
    expect(await received.promise).toBe('/test')
    command.kill('SIGTERM')
    await once(command, 'exit')
    local.close()
  })

  it('offers its lists to TAXII, MISP and CrowdSec clients', async () => {
    const { data } = await post<{ data: { key: string } }>('/api/v1/abuse/fleet/keys', {})
    const basic = { authorization: `Basic ${btoa(`key:${data.key}`)}` }
    const taxii = { ...basic, accept: 'application/taxii+json;version=2.1' }
    const discovery = (await (await api('/taxii2/', { headers: taxii })).json()) as {
      default: string
    }
    expect(discovery.default).toBe(`${base}/taxii2/lists/`)
    const collections = await fetch(`${discovery.default}collections/`, { headers: taxii })
    expect(collections.status).toBe(200)
    const lapi = await api('/v1/decisions', { headers: { 'x-api-key': data.key } })
    expect([lapi.status, await lapi.json()]).toEqual([200, null])
    expect((await api('/api/v1/abuse/misp/manifest.json')).status).toBe(200)
    const script = await (await api('/api/v1/abuse/fail2ban-install')).text()
    expect(script).toContain(`${base}/api/v1/abuse`)
    const document = (await (await fetch(`${base}/openapi.json`)).json()) as { servers: unknown }
    expect(document.servers).toEqual([{ url: '/portreeve' }])
  })

  it('signs in with a passkey', async () => {
    await authenticators.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    })
    await page.goto(`${base}/account`)
    await section('Passkeys').getByLabel('Passkey name').fill('Laptop')
    await section('Passkeys').getByRole('button', { name: 'Add passkey' }).click()
    await section('Passkeys').getByText('Passkey added.').waitFor()
    await signOut()
    await page.goto(`${base}/sign-in`)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL(`${base}/home`)
  })

  it('signs in with OpenID Connect', async () => {
    provider.be('adele', { email: person.email, email_verified: true })
    await page.goto(`${base}/account`)
    await page.getByRole('button', { name: 'Link Authelia' }).click()
    await page.getByText('Linked. You can sign in with Authelia.').waitFor()
    await signOut()
    await page.goto(`${base}/sign-in`)
    await page.getByRole('button', { name: 'Continue with Authelia' }).click()
    await page.waitForURL(`${base}/home`)
  })

  it('mails links that work', async () => {
    await signOut()
    await page.goto(`${base}/forgot-password`)
    await page.getByLabel('Email').fill(person.email)
    await page.getByRole('button', { name: /link/ }).click()
    const linked = () =>
      sink.mails.map(({ text }) => /http\S+reset-password#\S+/.exec(text ?? '')?.[0]).find(Boolean)
    await expect.poll(linked).toBeDefined()
    expect(linked()).toContain(`${base}/reset-password#`)
    await page.goto(linked() ?? '')
    await page.getByLabel('New password').fill('another password of Adele')
    await page.getByRole('button', { name: 'Set password' }).click()
    await heading(page, 'Your password is set').waitFor()
  })

  it('causes no browser errors, and asks for nothing outside of its path', () => {
    expect(visitor.complaints).toEqual([])
  })
})
