import type { AddressInfo } from 'node:net'
import { createServer as createHttpServer } from 'node:http'
import { once } from 'node:events'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inService, removeTestPath } from '../base-path.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startWebhooks, type WebhooksTest } from './module.ts'

/** Whatever it manages to do shows in the title, or as a request to the service. */
const ATTACK = `<!doctype html><title>untouched</title><script>
document.title = 'ran'
fetch('${inService('/api/v1/account')}').then((r) => r.text()).then((text) => { document.title = 'read ' + text })
new Image().src = '${inService('/webhooks/stolen')}?' + document.cookie
</script><img src="${inService('/webhooks/0000000000')}" onerror="document.title = 'ran'"><svg onload="document.title = 'ran'"></svg>
<form action="${inService('/api/auth/sign-out')}" method="post"><button id="go">go</button></form>
<a id="link" href="javascript:document.title='ran'">x</a><iframe src="${inService('/')}"></iframe>`

/** Loads a URL as script, frame and worker, and returns the results. */
const EMBED = `async (url) => {
  const script = Object.assign(document.createElement('script'), { src: url })
  const loaded = new Promise((resolve) => {
    script.addEventListener('load', () => resolve('loaded'))
    script.addEventListener('error', () => resolve('refused'))
  })
  document.head.append(script)
  document.body.append(Object.assign(document.createElement('iframe'), { src: url }))
  const worker = new Worker(url)
  const worked = new Promise((resolve) => {
    worker.addEventListener('error', () => resolve('refused'))
    setTimeout(() => resolve('no word'), 1_000)
  })
  return [await loaded, await worked, 'ran' in window]
}`

let portreeve: WebhooksTest
let browser: Browser
beforeAll(async () => {
  portreeve = await startWebhooks()
  browser = await sharedChromium()
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
})

async function signedInPage() {
  const context = await browser.newContext({ baseURL: portreeve.portreeve.url })
  removeTestPath(context)
  const { email, password } = portreeve.alice
  const headers = { origin: portreeve.portreeve.url }
  const answer = await context.request.post('/api/auth/sign-in/email', {
    data: { email, password },
    headers,
  })
  expect(answer.ok()).toBe(true)
  return { context, page: await context.newPage() }
}

describe('a captured answer in a signed-in browser', () => {
  it.each(['text/html', 'image/svg+xml', 'application/xhtml+xml', 'text/xml'])(
    'neither runs nor reads our session, as %s',
    async (responseType) => {
      const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = 'ran'; location = '${inService('/webhooks/stolen')}?' + document.cookie</script></svg>`
      const responseBody = responseType === 'text/html' ? ATTACK : svg
      const endpoint = await portreeve.makeEndpoint({ responseBody, responseType })
      const { context, page } = await signedInPage()
      expect((await context.cookies()).some(({ name }) => name.includes('session_token'))).toBe(
        true,
      )
      const asked: string[] = []
      page.on('requestfinished', (request) => asked.push(new URL(request.url()).pathname))
      await page.goto(`/webhooks/${endpoint.token}`)
      await page.waitForTimeout(500)
      expect(await page.title()).not.toMatch(/ran|read/)
      expect(
        asked.filter(
          (path) => path !== inService(`/webhooks/${endpoint.token}`) && path !== '/favicon.ico',
        ),
      ).toEqual([])
      if (responseType === 'text/html') {
        await page.locator('#go').click()
        await page.locator('#link').click()
        await page.waitForTimeout(300)
        expect(await page.title()).toBe('untouched')
        expect(new URL(page.url()).pathname).toBe(`/webhooks/${endpoint.token}`)
      }
      // The session went along with the navigation, and stays out of the list.
      const [request] = await portreeve.captured(endpoint)
      expect(JSON.stringify(request)).not.toContain('session_token')
      expect((await (await context.request.get('/api/v1/account')).json()) as object).toMatchObject(
        { success: true },
      )
      await context.close()
    },
  )

  it('would do both where it is not sandboxed', async () => {
    const { context, page } = await signedInPage()
    await page.route('**/unguarded', (route) =>
      route.fulfill({ contentType: 'text/html', body: ATTACK }),
    )
    const [answer] = await Promise.all([
      page.waitForResponse('**/api/v1/account'),
      page.goto('/unguarded'),
    ])
    expect(answer.status()).toBe(200)
    expect(await page.title()).toMatch(/ran|read/)
    await context.close()
  })

  it('cannot be the dashboard’s script, frame or worker', async () => {
    const endpoint = await portreeve.makeEndpoint({
      responseBody: 'window.ran = true',
      responseType: 'text/javascript',
    })
    const { context, page } = await signedInPage()
    // A page of ours without the dashboard's own policy, which forbids it as well.
    await page.route('**/plain', (route) =>
      route.fulfill({ contentType: 'text/html', body: '<title>plain</title>' }),
    )
    await page.goto('/plain')
    const outcome = await page.evaluate(`(${EMBED})('${inService(`/webhooks/${endpoint.token}`)}')`)
    expect(outcome).toEqual(['refused', 'refused', false])
    await context.close()
  })

  it('reaches a page of another origin through CORS, preflight and all', async () => {
    const endpoint = await portreeve.makeEndpoint({ responseStatus: 500, responseBody: 'for all' })
    const elsewhere = createHttpServer((_request, response) =>
      response.end('<title>app</title>'),
    ).listen(0, '127.0.0.1')
    await once(elsewhere, 'listening')
    const page = await browser.newPage()
    await page.goto(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/`)
    const answer = await page.evaluate(async (url) => {
      const response = await fetch(url, {
        method: 'PUT',
        headers: { 'x-own': '1', 'content-type': 'application/json' },
        body: '{}',
      })
      return [response.status, await response.text()]
    }, `${endpoint.url}/from-a-page`)
    expect(answer).toEqual([500, 'for all'])
    const [request, preflight] = await portreeve.captured(endpoint, 2)
    expect(preflight).toMatchObject({ method: 'OPTIONS', preflight: true, responseStatus: 204 })
    expect(request).toMatchObject({
      method: 'PUT',
      path: '/from-a-page',
      body: '{}',
      preflight: false,
    })
    expect(request?.headers.map(([name]) => name.toLowerCase())).toContain('x-own')
    await page.close()
    elsewhere.close()
  })
})
