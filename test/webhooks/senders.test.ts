import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer as createHttpServer, request as requestHttp } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { followEvents } from '../../src/net/http/event-stream.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { ignoreEpipe } from '../ignore-epipe.ts'
import {
  sendRaw,
  startWebhooks,
  type Captured,
  type Endpoint,
  type WebhooksTest,
} from './module.ts'

/** A request as sent or as captured, in the same form. */
type Sent = { line: string; headers: [string, string][]; body: string }

const BYTES = Buffer.from([0, 255, 13, 10, 128, 39])
const GITHUB_SECRET = 'It’s a Secret to Everybody'
const STRIPE_SECRET = 'whsec_test'

let portreeve: WebhooksTest
let recorder: Server
let recorded: Sent[] = []
let browser: Browser
let elsewhere: Server
let page: Page

beforeAll(async () => {
  portreeve = await startWebhooks()
  recorder = await startRecorder()
  browser = await sharedChromium()
  elsewhere = createHttpServer((_request, response) => response.end('<title>app</title>')).listen(
    0,
    '127.0.0.1',
  )
  await once(elsewhere, 'listening')
  page = await browser.newPage()
  await page.goto(`http://127.0.0.1:${portOf(elsewhere)}/`)
})
afterAll(async () => {
  await closeContexts(browser)
  recorder.close()
  elsewhere.close()
  await portreeve.stop()
})

const portOf = (server: Server) => (server.address() as AddressInfo).port

/** Shows a sender's bytes as they come, and answers as a service with CORS does. */
async function startRecorder(): Promise<Server> {
  const yes = [
    'Access-Control-Allow-Origin: *',
    'Access-Control-Allow-Headers: content-type, x-own',
  ]
  const answer = [
    'HTTP/1.1 200 OK',
    ...yes,
    'Access-Control-Allow-Methods: PUT',
    'Content-Length: 0',
    '',
    '',
  ].join('\r\n')
  const server = createServer((socket) => {
    let bytes = ''
    socket.on('error', () => {})
    socket.setEncoding('latin1').on('data', (piece) => {
      bytes += String(piece)
      const sent = readWhole(bytes)
      if (!sent) return
      recorded.push(sent)
      bytes = ''
      const closes = sent.headers.some(
        ([name, value]) => name === 'Connection' && value === 'close',
      )
      if (closes) socket.end(answer)
      else socket.write(answer)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** Null while the response is incomplete. */
function readWhole(bytes: string): Sent | null {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return null
  const [line = '', ...rest] = bytes.slice(0, end).split('\r\n')
  const headers = rest.map((text): [string, string] => {
    const colon = text.indexOf(':')
    return [text.slice(0, colon), text.slice(colon + 1).trim()]
  })
  const length = Number(headers.find(([name]) => name.toLowerCase() === 'content-length')?.[1] ?? 0)
  const body = bytes.slice(end + 4)
  return body.length < length ? null : { line, headers, body }
}

function shown(request: Captured, { token }: Endpoint): Sent {
  const { method, path, query, httpVersion, body, bodyEncoding } = request
  const line = `${method} /webhooks/${token}${path}${query && `?${query}`} HTTP/${httpVersion}`
  const own = (text: string) =>
    text.replace(new URL(portreeve.portreeve.wire).port, String(portOf(recorder)))
  const headers = request.headers.map(([name, value]): [string, string] => [
    name,
    /^host$/i.test(name) ? own(value) : value,
  ])
  return { line, headers, body: Buffer.from(body, bodyEncoding).toString('latin1') }
}

const post = (more: string[], body: string) => (url: string) =>
  new Promise<void>((resolve, reject) => {
    const headers = [
      'Host',
      new URL(url).host,
      ...more,
      'Content-Length',
      String(Buffer.byteLength(body)),
    ]
    const sent = requestHttp(url, { method: 'POST', headers }, (answer) =>
      answer.resume().once('end', resolve),
    )
    sent.once('error', reject).end(body)
  })

const hmac = (secret: string, text: string) =>
  createHmac('sha256', secret).update(text).digest('hex')

function github(url: string): Promise<void> {
  const body = '{"zen":"Design for failure.",  "hook_id":1,"sender":{"login":"mona ü"}}'
  const headers = [
    'Accept',
    '*/*',
    'Content-Type',
    'application/json',
    'User-Agent',
    'GitHub-Hookshot/044aadd',
  ]
  const own = [
    'X-GitHub-Delivery',
    '72d3162e-cc78-11e3-81ab-4c9367dc0958',
    'X-GitHub-Event',
    'ping',
  ]
  return post(
    [...headers, ...own, 'X-Hub-Signature-256', `sha256=${hmac(GITHUB_SECRET, body)}`],
    body,
  )(url)
}

function stripe(url: string): Promise<void> {
  const body = '{\n  "id": "evt_1",\n  "object": "event",\n  "type": "invoice.paid"\n}'
  const time = Math.floor(Date.now() / 1000)
  const signature = `t=${time},v1=${hmac(STRIPE_SECRET, `${time}.${body}`)},v0=00`
  return post(
    ['Content-Type', 'application/json; charset=utf-8', 'Stripe-Signature', signature],
    body,
  )(url)
}

async function curl(url: string): Promise<void> {
  const words = [
    '-sS',
    '-X',
    'PATCH',
    '-H',
    'X-Twice: 1',
    '-H',
    'x-twice: 2',
    '--data-binary',
    '@-',
  ]
  const running = promisify(execFile)('curl', [...words, `${url}/a%2fb?x=1&x=%zz`])
  ignoreEpipe(running.child.stdin)?.end(BYTES)
  await running
}

async function fetchOfAPage(url: string): Promise<void> {
  await page.evaluate(async (to) => {
    const headers = { 'X-Own': '1', 'Content-Type': 'application/json' }
    await fetch(`${to}/from-a-page`, { method: 'PUT', headers, body: '{"é":1}' })
  }, url)
}

async function rawSocket(url: string): Promise<void> {
  const { pathname, host } = new URL(url)
  const head = `POST ${pathname}//..;/%ff?? HTTP/1.1\r\nX-Empty:\r\nhOST: ${host}\r\nx-latin: \u00e4\r\nX-EMPTY: 2\r\n`
  await sendRaw(
    url,
    Buffer.concat([
      Buffer.from(`${head}Content-Length: 6\r\nConnection: close\r\n\r\n`, 'latin1'),
      BYTES,
    ]),
  )
}

/** Follows an endpoint until stopped. @returns the events so far */
function follow({ id }: Endpoint): { events: Captured[]; stop: () => Promise<void> } {
  const events: Captured[] = []
  const stopping = new AbortController()
  const url = new URL(`/api/webhook/endpoints/${id}/events`, portreeve.portreeve.url)
  const ended = (async () => {
    for await (const { name, data } of followEvents(
      url,
      { token: portreeve.alice.token, after: '0' },
      stopping.signal,
    )) {
      if (name === 'request') events.push(JSON.parse(data) as Captured)
    }
  })()
  return {
    events,
    stop() {
      stopping.abort()
      return ended
    },
  }
}

it.each<[string, (url: string) => Promise<void>, string[], object?]>([
  ['GitHub', github, ['POST'], { scheme: 'github', secret: GITHUB_SECRET }],
  ['Stripe', stripe, ['POST'], { scheme: 'stripe', secret: STRIPE_SECRET }],
  ['curl', curl, ['PATCH']],
  ['a page of another origin', fetchOfAPage, ['OPTIONS', 'PUT']],
  ['a raw socket', rawSocket, ['POST']],
])(
  'what %s sends shows as it was on the wire, at once in the list and within a second in the stream',
  async (_name, send, methods, signature) => {
    const endpoint = await portreeve.makeEndpoint(signature && { signature })
    recorded = []
    await send(`http://127.0.0.1:${portOf(recorder)}/webhooks/${endpoint.token}`)
    expect(recorded.map(({ line }) => line.split(' ')[0])).toEqual(methods)

    const following = follow(endpoint)
    await send(
      `${portreeve.portreeve.wire.replace('localhost', '127.0.0.1')}/webhooks/${endpoint.token}`,
    )
    const { json } = await portreeve.api('GET', `/${endpoint.id}/requests?order=asc`)
    expect(json.requests.map((request) => shown(request, endpoint))).toEqual(recorded)
    await vi.waitFor(() => expect(following.events).toEqual(json.requests), 1_000)
    await following.stop()

    const { json: one } = await portreeve.api(
      'GET',
      `/${endpoint.id}/requests/${json.requests[0]?.id}`,
    )
    expect(one.signature?.status).toBe(signature && 'valid')
  },
)
