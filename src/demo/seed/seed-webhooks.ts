import { createHmac } from 'node:crypto'
import { newUuidBytes } from '../../store/uuid.ts'
import { createRequestInsert } from '../../webhooks/requests/captured-requests.sql.ts'
import type { CapturedRequest } from '../../webhooks/requests/captured-request.ts'
import { HOUR_MS, MINUTE_MS } from '../../time.ts'
import { rewrite } from '../demo.sql.ts'
import { daysAgo, type Seed } from './seed-context.ts'

/** A request as its sender would send it. */
type Sent = {
  path?: string
  query?: string
  method?: string
  headers: [name: string, value: string][]
  type: string
  body: string
  ip: string
}

type Sender = {
  settings: { label: string } & Record<string, unknown>
  every: number
  count: number
  send: (n: number, at: Date) => Sent
}

const SECRET = 'the secret of the demo’s senders'
const signed = (text: string) => createHmac('sha256', SECRET).update(text).digest('hex')

const BOOKS = [
  { isbn: '978-3-16-148410-0', title: 'The Tide Tables', price: 2_400 },
  { isbn: '978-1-86197-271-2', title: 'A Lighthouse in Winter', price: 1_850 },
  { isbn: '978-0-306-40615-7', title: 'Knots and Splices', price: 3_200 },
] as const
const bookOf = (n: number) => BOOKS[n % BOOKS.length] ?? BOOKS[0]
const PEOPLE = ['anna', 'ben', 'clara'] as const

const GITHUB: Sender = {
  settings: {
    label: 'GitHub: seagull/shop',
    signature: { scheme: 'github', secret: SECRET },
    alerts: { badSignature: true },
  },
  every: 3.4 * HOUR_MS,
  count: 34,
  send: (n) => {
    const events = ['push', 'pull_request', 'push', 'issues', 'workflow_run', 'push', 'release']
    const event = events[n % events.length] ?? 'push'
    const login = PEOPLE[n % PEOPLE.length] ?? 'anna'
    const repository = { id: 4_711, full_name: 'seagull/shop', private: true }
    const commit = signed(`commit ${n}`).slice(0, 40)
    const body = JSON.stringify({
      ...(event === 'push'
        ? {
            ref: 'refs/heads/main',
            after: commit,
            commits: [
              {
                id: commit,
                message: ['Show the price with tax', 'Fix the search for ISBNs', 'Update packages'][
                  n % 3
                ],
                author: { name: login, email: `${login}@seagull.example` },
                modified: ['src/checkout/total.ts'],
              },
            ],
          }
        : { action: event === 'release' ? 'published' : 'opened', number: 200 + n }),
      repository,
      sender: { login, id: 42 + (n % 3) },
    })
    return {
      headers: [
        ['User-Agent', 'GitHub-Hookshot/044aadd'],
        ['X-GitHub-Event', event],
        [
          'X-GitHub-Delivery',
          `7f3c1d2e-${signed(String(n)).slice(0, 4)}-11f0-8a3d-${signed(`id ${n}`).slice(0, 12)}`,
        ],
        ['X-Hub-Signature-256', `sha256=${signed(body)}`],
      ],
      type: 'application/json',
      body,
      ip: '198.51.100.140',
    }
  },
}

const PAYMENTS: Sender = {
  settings: {
    label: 'Payments',
    labels: ['production'],
    responseBody: '{"received":true}',
    responseType: 'application/json',
    signature: { scheme: 'stripe', secret: SECRET },
    alerts: { badSignature: true, silentAfterMinutes: 1_440 },
  },
  every: 47 * MINUTE_MS,
  count: 120,
  send: (n, at) => {
    const type =
      ['checkout.session.completed', 'payment_intent.succeeded', 'charge.refunded'][
        n % 7 === 6 ? 2 : n % 2
      ] ?? ''
    const { title, isbn, price } = bookOf(n)
    const seconds = Math.floor(at.getTime() / 1000)
    const body = JSON.stringify({
      id: `evt_${signed(`event ${n}`).slice(0, 24)}`,
      object: 'event',
      created: seconds,
      type,
      livemode: true,
      data: {
        object: {
          id: `pi_${signed(`payment ${n}`).slice(0, 24)}`,
          amount: price,
          currency: 'eur',
          metadata: { order: String(10_400 + n), isbn, title },
        },
      },
    })
    return {
      headers: [
        ['User-Agent', 'Stripe/1.0 (+https://stripe.com/docs/webhooks)'],
        ['Stripe-Signature', `t=${seconds},v1=${signed(`${seconds}.${body}`)}`],
      ],
      type: 'application/json; charset=utf-8',
      body,
      ip: '203.0.113.18',
    }
  },
}

const CONTACT: Sender = {
  settings: { label: 'Contact form', responseStatus: 204 },
  every: 9 * HOUR_MS,
  count: 11,
  send: (n) => {
    const { title } = bookOf(n)
    const body = new URLSearchParams({
      name: ['Mara Stein', 'J. Novak', 'Ida Holm'][n % 3] ?? '',
      email: ['mara@mail.example', 'novak@mail.example', 'ida@mail.example'][n % 3] ?? '',
      subject: 'A question about my order',
      message: `Hello, when will “${title}” arrive?`,
    })
    return {
      path: '/contact',
      query: 'lang=en',
      headers: [
        ['User-Agent', 'Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0'],
        ['Origin', 'https://seagull.example'],
      ],
      type: 'application/x-www-form-urlencoded',
      body: body.toString(),
      ip: '192.0.2.201',
    }
  },
}

const STOCK: Sender = {
  settings: {
    label: 'Warehouse stock',
    signature: { scheme: 'hmac', header: 'X-Signature', secret: SECRET },
  },
  every: 6 * HOUR_MS,
  count: 18,
  send: (n) => {
    const { isbn } = bookOf(n)
    const body = `<?xml version="1.0" encoding="UTF-8"?>\n<stock><item isbn="${isbn}" available="${(n * 7) % 40}"/></stock>\n`
    // Its secret was replaced at one side only.
    const signature = n > 15 ? signed(`old ${body}`) : signed(body)
    return {
      method: 'PUT',
      path: '/stock',
      headers: [
        ['User-Agent', 'okhttp/5.1.0'],
        ['X-Signature', signature],
      ],
      type: 'application/xml',
      body,
      ip: '198.51.100.9',
    }
  },
}

const SENDERS = [CONTACT, STOCK, PAYMENTS, GITHUB]

/** A request that arrives now, at one of these endpoints. */
export function nextRequest(
  endpoints: { id: string; label: string }[],
  count: number,
): CapturedRequest {
  const sender = [GITHUB, PAYMENTS, PAYMENTS, GITHUB, CONTACT][count % 5] ?? GITHUB
  const endpoint = endpoints.find(({ label }) => label === sender.settings.label)
  const at = new Date()
  return rowOf(endpoint?.id ?? '', sender.send(sender.count + count, at), at)
}

/** Webhook endpoints, each with the requests of one sender until a moment ago. */
export async function seedWebhooks({ db, pool, call }: Seed): Promise<void> {
  const insert = createRequestInsert(pool)
  for (const { settings, every, count, send } of SENDERS) {
    const { endpoint } = await call<{ endpoint: { id: string } }>(
      '/api/webhook/endpoints',
      settings,
    )
    await rewrite(db, 'webhook_endpoint', { created_at: daysAgo(58) }, { id: endpoint.id })
    const rows = Array.from({ length: count }, (_, n) => {
      // Not as regular as a clock.
      const wander = (((n * 7_919) % 100) / 100) * every * 0.6
      const at = new Date(Date.now() - (count - 1 - n) * every - wander - MINUTE_MS)
      return rowOf(endpoint.id, send(n, at), at)
    })
    await insert(
      rows.toSorted((one, other) => one.receivedAt.getTime() - other.receivedAt.getTime()),
    )
  }
}

function rowOf(endpointId: string, sent: Sent, receivedAt: Date): CapturedRequest {
  const body = Buffer.from(sent.body)
  return {
    id: newUuidBytes(),
    endpointId,
    method: sent.method ?? 'POST',
    path: sent.path ?? '',
    query: sent.query ?? '',
    headers: [
      ['Host', 'portreeve.seagull.example'],
      ...sent.headers,
      ['Content-Type', sent.type],
      ['Content-Length', String(body.length)],
    ],
    trailers: null,
    ip: sent.ip,
    body,
    bodySize: body.length,
    contentType: sent.type,
    receivedAt,
    durationMs: 0.4,
    httpVersion: '1.1',
    preflight: false,
    aborted: false,
    rejected: null,
    responseStatus: sent.path === '/contact' ? 204 : 200,
    surplus: null,
    answeredBy: null,
  }
}
