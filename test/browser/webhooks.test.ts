import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { sharedService, type TestService } from '../service.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startReceiver, status } from '../servers/receiver.ts'
import {
  heading,
  openStreams,
  recordStreams,
  signedIn,
  tabTo,
  untilLoaded,
  type Visit,
} from './browsing.ts'

/** Runs in a separate shell, while the service continues to respond. */
const run = promisify(execFile)
const SECRET = 'It is a secret'

let browser: Browser
let portreeve: TestService
beforeAll(async () => {
  portreeve = await sharedService()
  browser = await sharedChromium()
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
})

const requests = (page: Page) => page.getByRole('listbox', { name: 'Captured requests' })
const detail = (page: Page) => page.getByRole('region', { name: 'Request', exact: true })

/** Creates an endpoint in the browser that is signed in as this person. */
async function makeEndpoint(
  page: Page,
  settings: object = {},
): Promise<{ id: string; url: string }> {
  const headers = { origin: portreeve.url }
  const answer = await page.request.post('/api/webhook/endpoints', { data: settings, headers })
  const { endpoint } = (await answer.json()) as { endpoint: { id: string; token: string } }
  return { id: endpoint.id, url: `${portreeve.url}/webhooks/${endpoint.token}` }
}

/** A sequence: each step continues the one before. */
describe('a user who receives webhooks', () => {
  let alice: Visit
  let page: Page
  let url: string
  beforeAll(async () => {
    alice = await signedIn(browser, portreeve, 'Alice')
    page = alice.page
  })
  afterAll(() => alice.close())

  it('creates an endpoint and sees a command that sends to it', async () => {
    await page.goto('/hooks')
    await page.getByText('No endpoints yet').waitFor()
    await page.getByLabel('Name (optional)').fill('shop orders')
    await page.getByRole('button', { name: 'Create endpoint' }).click()
    await heading(page, 'shop orders').waitFor()
    await page.getByText('Waiting for the first request').waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
  })

  it('runs that command as it stands, and sees the request arrive', async () => {
    await page.getByRole('button', { name: 'Copy the command' }).click()
    const command = await page.evaluate<string>('navigator.clipboard.readText()')
    const { stdout } = await run('sh', ['-c', `${command} -sS`], { timeout: 10_000 })
    expect(stdout).toMatch(/^HTTP\/1.1 200/)
    await requests(page).getByRole('option', { name: 'POST' }).waitFor()
    await detail(page).getByText('"hello"').waitFor()
    url = new URL(/"(http[^"]+)"/.exec(command)?.[1] ?? '').pathname
  })

  it('configures the response and the sender’s signature', async () => {
    await page.locator('main').getByRole('link', { name: 'Settings' }).click()
    await heading(page, 'Settings for shop orders').waitFor()
    await page.getByLabel('Status').fill('700')
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText('Enter a status from 200 to 599.').waitFor()
    await page.getByLabel('Status').fill('202')
    await page.getByLabel('Content type').fill('application/json')
    await page.getByLabel('Body', { exact: true }).fill('{"seen": "{{body.challenge}}"}')
    await page.getByLabel('Use request values in the response').check()
    await page.getByLabel('Verify signatures of').selectOption('github')
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText('Enter the secret').waitFor()
    await page.getByLabel('Secret', { exact: true }).fill(SECRET)
    await page.getByLabel('Alert about requests without a valid signature').check()
    await page.getByLabel('Alert me when requests stop').selectOption('After 2 days')
    await page
      .getByLabel('Alert me when requests arrive', { exact: true })
      .selectOption('Up to one per hour')
    await page.getByRole('button', { name: 'Save settings' }).click()
    await heading(page, 'shop orders').waitFor()
    const id = new URL(page.url()).pathname.split('/')[2]
    const saved = await page.request.get(`/api/webhook/endpoints/${id}`)
    expect(await saved.json()).toMatchObject({
      endpoint: {
        alerts: { calledEveryMinutes: 60, badSignature: true, silentAfterMinutes: 2_880 },
      },
    })

    const body = '{"challenge": "echo", "id": 12345678901234567890}'
    const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signature }
    const answer = await portreeve.request(`${url}/orders?source=shop`, {
      method: 'PUT',
      body,
      headers,
    })
    expect([answer.status, await answer.text()]).toEqual([202, '{"seen": "echo"}'])
    await portreeve.request(`${url}/forged`, { method: 'POST', body: `${body} `, headers })
    await requests(page)
      .getByRole('option', { name: '/orders' })
      .getByText('Signed', { exact: true })
      .waitFor()
    await requests(page)
      .getByRole('option', { name: '/forged' })
      .getByText('Bad signature')
      .waitFor()
  })

  it('views a request: formatted with every digit, raw, in hexadecimal, its headers and its query', async () => {
    await requests(page).getByRole('option', { name: '/orders' }).click()
    await detail(page).getByText('12345678901234567890', { exact: true }).waitFor()
    await detail(page).getByText('Raw', { exact: true }).click()
    await detail(page).getByText('{"challenge": "echo", "id": 12345678901234567890}').waitFor()
    await detail(page).getByText('Hex', { exact: true }).click()
    await detail(page).getByText('7b 22 63 68 61 6c').waitFor()
    await page.getByRole('tab', { name: 'Headers' }).click()
    await detail(page).getByRole('row', { name: 'x-hub-signature-256' }).waitFor()
    await page.getByRole('tab', { name: 'Query' }).click()
    await detail(page).getByRole('row', { name: 'source shop' }).waitFor()
  })

  it('sees the differences from the previous request', async () => {
    await requests(page).getByRole('option', { name: '/forged' }).click()
    await page.getByRole('tab', { name: 'Compare' }).click()
    await detail(page).getByText('− PUT /orders?source=shop').waitFor()
    await detail(page).getByText('+ POST /forged').waitFor()
  })

  it('finds all that in the address, which a reload and a friend’s browser show again', async () => {
    expect(page.url()).toMatch(/\?request=[\w-]+&view=compare$/)
    await page.reload()
    await detail(page).getByText('+ POST /forged').waitFor()
  })

  it('copies a command that sends the request again', async () => {
    await page.getByRole('button', { name: 'Copy as cURL' }).click()
    const command = await page.evaluate<string>('navigator.clipboard.readText()')
    await run('sh', ['-c', command], { timeout: 10_000 })
    await requests(page).getByRole('option', { name: '/forged' }).nth(1).waitFor()
  })

  it('exports all requests as an HTTP Archive', async () => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'HAR' }).click(),
    ])
    const har = JSON.parse(readFileSync(await download.path(), 'utf8')) as {
      log: { entries: unknown[] }
    }
    expect([download.suggestedFilename(), har.log.entries.length]).toEqual([
      expect.stringMatching(/\.har$/),
      4,
    ])
  })

  it('filters the list, including new requests', async () => {
    await page.getByLabel('Filter by path').fill('needle')
    await page.getByText('No requests match.').waitFor()
    expect(page.url()).toContain('q=needle')
    await portreeve.request(`${url}/hay`, { method: 'POST', body: 'straw' })
    await portreeve.request(`${url}/stack`, { method: 'POST', body: 'a NEEDLE in it' })
    await page.getByText('1 matching request').waitFor()
    await requests(page).getByRole('option', { name: '/stack' }).waitFor()
    await page.getByLabel('Filter by path').fill('')
    await page.getByLabel('Method').selectOption('PUT')
    await page.getByText('1 matching request').waitFor()
    await page.getByLabel('Method').selectOption('Any method')
    await page.getByText('6 requests').waitFor()
  })

  it('sees the fields and files of a form', async () => {
    const form = new FormData()
    form.append('name', 'Zoë')
    form.append('picture', new Blob([Uint8Array.of(0, 1, 255)], { type: 'image/png' }), 'a.png')
    await portreeve.request(`${url}/form`, { method: 'POST', body: form })
    await requests(page).getByRole('option', { name: '/form' }).click()
    await page.getByRole('tab', { name: 'Body' }).click()
    await detail(page).getByRole('row', { name: 'name Zoë 4 bytes' }).waitFor()
    await detail(page)
      .getByRole('row', { name: 'picture a.png · image/png not text 3 bytes' })
      .waitFor()
  })

  it('sees markup from senders as text, in every place', async () => {
    const markup = '<img src=x onerror="document.title=1"><b id=stranger>bold</b>'
    const headers = { 'content-type': 'text/html', 'x-markup': markup }
    await portreeve.request(`${url}/<b id=stranger>?q=${markup}`, {
      method: 'POST',
      body: markup,
      headers,
    })
    await requests(page).getByRole('option', { name: '/%3Cb' }).click()
    await detail(page).getByText(markup).waitFor()
    for (const tab of ['Headers', 'Query', 'Compare']) {
      await page.getByRole('tab', { name: tab }).click()
      await detail(page).getByText('<img src=x').first().waitFor()
      expect(await page.locator('#stranger, img').count()).toBe(0)
    }
  })

  it('clears the list after a confirmation, and deletes the endpoint', async () => {
    await page.getByRole('button', { name: 'Clear all requests' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    expect(await requests(page).getByRole('option').count()).toBeGreaterThan(5)
    await page.getByRole('button', { name: 'Clear all requests' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click()
    await page.getByText('Waiting for the first request').waitFor()
    await page.locator('main').getByRole('link', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Delete this endpoint' }).click()
    await page.getByText('No endpoints yet').waitFor()
    await expect.poll(async () => (await portreeve.request(url)).status).toBe(404)
  })

  it('meets no complaint of the browser on the way', () => {
    expect(alice.complaints).toEqual([])
  })
})

describe('a user who tests a sender', () => {
  it('adds a rule that fails first, and sees it on the request', async () => {
    const visit = await signedIn(browser, portreeve, 'Rita')
    const { page } = visit
    const { id, url } = await makeEndpoint(page, { label: 'payments' })
    await page.goto(`/hooks/${id}`)
    await page.getByRole('link', { name: 'Rules' }).click()
    await heading(page, 'Rules for payments').waitFor()
    const form = page.getByRole('region', { name: 'Add a rule' })
    await form.getByLabel('Name (optional)').fill('fail first')
    await form.getByRole('button', { name: 'Add condition' }).click()
    await form.getByLabel('Field').selectOption('JSON field')
    await form.getByLabel('Name or JSON Pointer').fill('type')
    await form.getByLabel('Value', { exact: true }).fill('paid')
    await form.getByRole('button', { name: 'Add answer' }).click()
    await form.getByLabel('Status').first().fill('99')
    await form.getByRole('button', { name: 'Add rule' }).click()
    await form.getByText('Enter a status from 200 to 599.').waitFor()
    await form.getByLabel('Status').first().fill('503')
    await form.getByLabel('Headers').first().fill('Retry-After: 5')
    await form.getByLabel('Count separately').fill('body/id')
    await form.getByRole('button', { name: 'Add rule' }).click()
    const rule = page.getByRole('region', { name: 'fail first', exact: true })
    await rule.getByText('{"body/type":"paid"}').waitFor()
    await rule.getByText('503 → 200 (body/id)').waitFor()
    const statuses = async (event: number) => {
      const answer = await fetch(url, { method: 'POST', body: `{"type":"paid","id":${event}}` })
      return [answer.status, answer.headers.get('retry-after')]
    }
    expect([await statuses(1), await statuses(2), await statuses(1)]).toEqual([
      [503, '5'],
      [503, '5'],
      [200, null],
    ])
    await page.getByRole('button', { name: 'Check the newest request' }).click()
    await page.getByText('fail first would answer the newest request.').waitFor()
    await rule.getByRole('button', { name: 'Edit' }).click()
    expect(await rule.getByLabel('Value', { exact: true }).inputValue()).toBe('paid')
    await rule.getByLabel('Edit conditions as JSON').check()
    await rule.getByLabel('Conditions in JSON').fill('{"$not": {"body/type": "paid"}}')
    await rule.getByRole('button', { name: 'Save rule' }).click()
    await rule.getByText('{"$not":{"body/type":"paid"}}').waitFor()
    expect(await statuses(1)).toEqual([200, null])
    await page.goto(`/hooks/${id}`)
    await requests(page).getByRole('option').last().click()
    await detail(page).getByText('by the rule “fail first”, answer 1 for 1').waitFor()
    expect(visit.complaints).toEqual([])
    await visit.close()
  })
})

describe('a user who forwards requests', () => {
  it('adds a destination, sees what was delivered, and sends it again', async () => {
    const receiver = await startReceiver(status(204))
    onTestFinished(() => receiver.close())
    const visit = await signedIn(browser, portreeve, 'Frida')
    const { page } = visit
    const { id, url } = await makeEndpoint(page, { label: 'orders' })
    await page.goto(`/hooks/${id}`)
    await page.getByRole('link', { name: 'Forwarding' }).click()
    await heading(page, 'Forwarding of orders').waitFor()
    const form = page.getByRole('region', { name: 'Add a destination' })
    await form.getByRole('button', { name: 'Add destination' }).click()
    await form.getByText('Enter a URL that begins with https://.').waitFor()
    await form.getByLabel('Name (optional)').fill('backend')
    await form.getByLabel('URL').fill(`${receiver.origin}/in`)
    await form.getByRole('button', { name: 'Add destination' }).click()
    await page.getByText(/^whsec_/).waitFor()
    const card = page.getByRole('region', { name: 'backend', exact: true })
    await card.getByText('Active').waitFor()
    await fetch(`${url}/orders`, { method: 'POST', body: 'x' })
    const deliveries = page.getByRole('region', { name: 'Deliveries' })
    await deliveries.getByText('Delivered', { exact: true }).last().waitFor()
    await deliveries.getByRole('button', { name: 'Retry' }).click()
    await expect.poll(() => receiver.received.length).toBe(2)
    expect(receiver.received.map(({ path }) => path)).toEqual(['/in/orders', '/in/orders'])
    await card.getByRole('button', { name: 'Pause' }).click()
    await card.getByText('Paused').waitFor()
    await card.getByRole('button', { name: 'Resume' }).click()
    await card.getByText('Active').waitFor()
    const replay = page.getByRole('region', { name: 'Replay' })
    await replay.getByLabel('Requests per minute').fill('60000')
    await replay.getByRole('button', { name: 'Start replay' }).click()
    await replay.getByText('1 request queued; 1 of 1 compared').waitFor()
    await expect.poll(() => receiver.received.length).toBe(3)
    expect(receiver.received.at(-1)?.headers['x-portreeve-repeat']).toBe('replay')
    expect(visit.complaints).toEqual([])
    await visit.close()
  })

  it('sends an edited request after a preview, and shares it without its secrets', async () => {
    const visit = await signedIn(browser, portreeve, 'Greta')
    const { page } = visit
    const receiver = await startReceiver(status(204))
    onTestFinished(() => receiver.close())
    const { id, url } = await makeEndpoint(page)
    const data = { url: receiver.origin, headers: [['X-Own', 'hidden']] }
    const headers = { origin: portreeve.url }
    await page.request.post(`/api/webhook/endpoints/${id}/destinations`, { data, headers })
    await fetch(url, { method: 'POST', body: 'first', headers: { authorization: 'Bearer abc' } })
    await page.goto(`/hooks/${id}`)
    await requests(page).getByRole('option', { name: 'POST' }).first().click()
    await detail(page).getByRole('tab', { name: 'Send' }).click()
    await detail(page).getByLabel('Body', { exact: true }).fill('edited')
    await detail(page).getByRole('button', { name: 'Preview' }).click()
    await detail(page).getByText('The destination gets this:').waitFor()
    const preview = await detail(page).locator('pre').innerText()
    expect(preview).toContain('X-Own: …')
    expect(preview).toMatch(/edited$/)
    await detail(page).getByRole('button', { name: 'Send', exact: true }).click()
    await detail(page).getByText('The request was queued.').waitFor()
    await expect
      .poll(() => receiver.received.map(({ body }) => body), { timeout: 20_000 })
      .toContain('edited')

    await detail(page).getByRole('tab', { name: 'Share' }).click()
    await detail(page).getByRole('button', { name: 'Create link' }).click()
    await detail(page).getByText('Without the body').waitFor()
    const link = await detail(page).getByText('/shared-webhook-requests/').innerText()
    const stranger = await browser.newContext()
    onTestFinished(() => stranger.close())
    const shared = await stranger.newPage()
    await shared.goto(`${portreeve.url}${new URL(link).pathname}`)
    await heading(shared, 'POST /').waitFor()
    const text = await shared.locator('main').innerText()
    expect(text).toContain('The body isn’t shared.')
    expect(text).toMatch(/Hidden: .*authorization/i)
    expect(text).not.toContain('Bearer abc')
    await detail(page).getByRole('button', { name: 'End link' }).click()
    await detail(page).getByText('Without the body').waitFor({ state: 'detached' })
    await shared.reload()
    await heading(shared, 'Request not found').waitFor()
    await visit.close()
  })
})

describe('with the keyboard alone', () => {
  it('an endpoint is made, its requests are gone through, narrowed down and compared', async () => {
    const { page, close } = await signedIn(browser, portreeve, 'Bob')
    await page.goto('/hooks')
    await heading(page, 'Webhooks').waitFor()
    await tabTo(page, 'Name (optional)')
    await page.keyboard.type('by key')
    await page.keyboard.press('Enter')
    await page.getByText('Waiting for the first request').waitFor()
    await tabTo(page, 'Send test request')
    await page.keyboard.press('Enter')
    await requests(page).getByRole('option').waitFor()
    await tabTo(page, 'Send test request')
    await page.keyboard.press('Enter')
    await requests(page).getByRole('option').nth(1).waitFor()

    const newest = await requests(page).getByRole('option').first().getAttribute('id')
    await expect.poll(() => selected(page)).toBe(newest)
    await page.keyboard.press('j')
    await expect.poll(() => selected(page)).not.toBe(newest)
    await page.keyboard.press('k')
    await expect.poll(() => selected(page)).toBe(newest)

    await page.keyboard.press('/')
    await page.keyboard.type('jk hello')
    await page.getByText('No requests match.').waitFor()
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type('hello')
    await page.getByText('2 matching requests').waitFor()

    await tabTo(page, 'Captured requests')
    await page.keyboard.press('ArrowDown')
    await expect.poll(() => selected(page)).not.toBe(newest)
    await page.keyboard.press('Home')
    await expect.poll(() => selected(page)).toBe(newest)
    await tabTo(page, 'Body')
    await page.keyboard.press('End')
    await detail(page).getByRole('button', { name: 'Create link' }).waitFor()
    await page.keyboard.press('ArrowLeft')
    await detail(page).getByText('This endpoint has no destination.').waitFor()
    await page.keyboard.press('ArrowLeft')
    await detail(page).getByText('Compared with the previous request').waitFor()
    await close()
  })
})

describe('on a phone', () => {
  it('the list and a request have the screen one after the other, and the way back leads from one to the other', async () => {
    const { page, close } = await signedIn(browser, portreeve, 'Pauline', 360)
    const { id, url } = await makeEndpoint(page, { label: 'phone' })
    await Promise.all([1, 2].map((each) => fetch(`${url}/${each}`, { method: 'POST', body: 'x' })))
    await page.goto(`/hooks/${id}`)
    await requests(page).getByRole('option', { name: '/1' }).click()
    await detail(page).getByRole('heading', { name: '/1' }).waitFor()
    expect(await requests(page).isVisible()).toBe(false)
    await page.goBack()
    await requests(page).waitFor()
    expect(await detail(page).isVisible()).toBe(false)
    await requests(page).getByRole('option', { name: '/2' }).click()
    await page.getByRole('button', { name: 'All requests' }).click()
    await requests(page).waitFor()
    await close()
  })
})

describe('a hidden tab', () => {
  it('closes its stream after a minute, and catches up when it is shown again', async () => {
    const { page, close } = await signedIn(browser, portreeve, 'Hilda')
    const { id, url } = await makeEndpoint(page)
    await recordStreams(page)
    await page.clock.install()
    await page.goto(`/hooks/${id}`)
    await page.getByText('Live', { exact: true }).waitFor()
    await fetch(`${url}/seen`, { method: 'POST', body: 'x' })
    await requests(page).getByRole('option', { name: '/seen' }).waitFor()

    expect(await openStreams(page)).toHaveLength(1)
    await show(page, false)
    await page.clock.fastForward('01:01')
    await expect.poll(() => openStreams(page)).toEqual([])
    await fetch(`${url}/unseen`, { method: 'POST', body: 'x' })
    expect(await requests(page).getByRole('option').count()).toBe(1)
    await show(page, true)
    await requests(page).getByRole('option', { name: '/unseen' }).waitFor()
    await close()
  })
})

/** Simulates a tab that becomes visible or hidden. */
async function show(page: Page, isShown: boolean): Promise<void> {
  await page.evaluate(`Object.defineProperties(document, {
      hidden: { configurable: true, value: ${!isShown} },
      visibilityState: { configurable: true, value: '${isShown ? 'visible' : 'hidden'}' },
    })
    document.dispatchEvent(new Event('visibilitychange'))`)
}

describe('an endpoint of another account', () => {
  it('is not there', async () => {
    const dora = await signedIn(browser, portreeve, 'Dora')
    const { id } = await makeEndpoint(dora.page, { label: 'secret plans' })
    const { page, close } = await signedIn(browser, portreeve, 'Charlie')
    for (const path of [`/hooks/${id}`, `/hooks/${id}/settings`]) {
      await page.goto(path)
      await page.getByText('was not found').first().waitFor()
      expect(await page.content()).not.toContain('secret plans')
    }
    await close()
    await dora.close()
  })
})

/** Stores as many requests as the first burst had, as if they were sent again. */
async function repeatRequests({ pool }: Database, workspaceId: string, id: string): Promise<void> {
  await pool.query(
    `insert into webhook_request (id, endpoint_id, method, path, query, headers, ip, body, body_size,
       received_at, duration_ms, http_version, preflight, aborted, response_status)
     select uuid_v7(), endpoint_id, method, path, query, headers, ip, body, body_size,
       now(), duration_ms, http_version, preflight, aborted, response_status
     from webhook_request where endpoint_id = $1 order by seq limit ${WAVE}`,
    [id],
  )
  await pool.query(`select pg_notify('portreeve', $1)`, [
    JSON.stringify(['changed', [[workspaceId, 'requests', id]]]),
  ])
}

/** Requests in one burst: few enough for the stream to follow each of them. */
const WAVE = 500

describe('ten thousand requests', () => {
  it('scroll with few rows in the page, and new ones do not move the visible ones', async () => {
    const { page, person, close } = await signedIn(browser, portreeve, 'Erna')
    const { id, url } = await makeEndpoint(page, { label: 'flood' })
    await page.goto(`/hooks/${id}`)
    await page.getByText('Waiting for the first request').waitFor()
    // A page that begins to follow during the burst shows the newest of it, and loads the rest later.
    await page.getByText('Live', { exact: true }).waitFor()
    await untilLoaded(page)
    const those = Array.from({ length: WAVE }, (_, at) => fetch(`${url}/${at}`))
    await Promise.all(those.map(async (answer) => (await answer).text()))
    const database = openDatabase(portreeve.databaseUrl)
    for (let shown = WAVE; shown <= 10_000; shown += WAVE) {
      await page.getByText(`${shown.toLocaleString('en-GB')} requests`, { exact: true }).waitFor()
      if (shown < 10_000) await repeatRequests(database, person.id, id)
    }
    await database.close()

    expect(await mostRendered(page)).toBeLessThan(60)

    const row = (await requests(page).getByRole('option').nth(12).getAttribute('id')) ?? ''
    const read = page.locator(`[id="${row}"]`)
    const before = await read.boundingBox()
    await Promise.all([1, 2, 3].map((each) => fetch(`${url}/late-${each}`)))
    await page.getByRole('button', { name: '3 new requests' }).waitFor()
    // The newest request is shown beside the list, which must not scroll to it.
    await detail(page).getByRole('heading', { name: '/late-' }).waitFor()
    const after = await read.boundingBox()
    expect(Math.abs((after?.y ?? NaN) - (before?.y ?? NaN))).toBeLessThan(2)
    await page.getByRole('button', { name: '3 new requests' }).click()
    await requests(page).getByRole('option', { name: '/late-' }).first().waitFor()
    await close()
  })
})

/**
 * Scrolls 150 frames, each by more than a screen, and stops. @returns the most rows that the page
 * had at once
 */
async function mostRendered(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    const list = document.querySelector('[role=listbox]')
    let frames = 0
    let rendered = 0
    requestAnimationFrame(function frame() {
      rendered = Math.max(rendered, list.querySelectorAll('[role=option]').length)
      list.scrollTop += 900
      frames += 1
      if (frames < 150) requestAnimationFrame(frame)
      else settle('', 0)
    })
    // Until the same row is the first for some frames.
    function settle(first, still) {
      const row = list.querySelector('[role=option]').id
      if (row === first && still === 10) resolve(rendered)
      else requestAnimationFrame(() => settle(row, row === first ? still + 1 : 0))
    }
  })`)
}

/** The badges in the list. */
function selected(page: Page): Promise<string | null> {
  return requests(page).getByRole('option', { selected: true }).getAttribute('id')
}

describe('a JSON body of a megabyte', () => {
  /** Seconds that the browser has computed styles and layout. */
  async function secondsOfRendering(page: Page): Promise<number> {
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Performance.enable')
    const { metrics } = await devtools.send('Performance.getMetrics')
    const of = (name: string) => metrics.find((metric) => metric.name === name)?.value ?? 0
    return of('RecalcStyleDuration') + of('LayoutDuration')
  }

  it('is shown without freezing the tab', async () => {
    const visit = await signedIn(browser, portreeve, 'Nadia')
    const { page } = visit
    const endpoint = await makeEndpoint(page)
    const rows = Array.from({ length: 14_000 }, (_, id) => ({ id, state: 'open', amount: 12.5, to: `customer ${id}` })) // prettier-ignore
    await fetch(endpoint.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ rows }),
    })
    await page.goto(`/hooks/${endpoint.id}`)
    await detail(page).getByText('"customer 7"').waitFor({ timeout: 60_000 })
    // With a selector that searches subtrees, 2,000 objects took 20 seconds.
    expect(await secondsOfRendering(page)).toBeLessThan(4)
    await detail(page).getByLabel('Formatted body').press('End')
    await detail(page).getByText('"customer 13999"').waitFor()
    await visit.close()
  }, 90_000)
})
