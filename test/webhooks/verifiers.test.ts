import { randomBytes } from 'node:crypto'
import { Webhooks as GithubWebhooks } from '@octokit/webhooks'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Stripe } from 'stripe'
import { Webhook as SvixWebhook } from 'svix'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../alerts/module.ts'
import { requestOverHttp2, startProxy, type ProxyName } from '../deploy/proxies.ts'
import { freePort } from '../free-port.ts'
import { startReceiver, status, type Received, type Receiver } from '../servers/receiver.ts'
import { startWebhooks, type Endpoint, type WebhooksTest } from './module.ts'

// What receivers verify: the libraries of those who send webhooks, behind real reverse proxies.
const stripe = new Stripe('sk_test_of_nobody')
const SECRET = `whsec_${randomBytes(24).toString('base64')}`
const github = new GithubWebhooks({ secret: SECRET })
/** Not as JSON.stringify would write it: whoever decodes and encodes it breaks the signature. */
const BODY =
  '{ "id": 12345678901234567890, "price": 1.10,\r\n "name": "Zoë \\u00fc", "id2": 1e2 }\n'

let portreeve: WebhooksTest
let receiver: Receiver

beforeAll(async () => {
  portreeve = await startWebhooks({
    REQUEST_LIMITS: 'off',
    TRUSTED_PROXIES: '127.0.0.1',
    WEBHOOK_FORWARDING: 'all',
    FORWARD_PRIVATE_TARGETS: '127.0.0.1',
  })
})
afterAll(() => portreeve.stop())
beforeEach(async () => void (receiver = await startReceiver(status(204))))
afterEach(() => receiver.close())

async function endpointWith(settings: object): Promise<{ endpoint: Endpoint; secret: string }> {
  const endpoint = await portreeve.makeEndpoint()
  const body = { url: `${receiver.origin}/in`, schedule: [1], ...settings }
  const { json } = await portreeve.api('POST', `/${endpoint.id}/destinations`, body)
  return { endpoint, secret: (json as unknown as { secret: string }).secret }
}

const headersOf = ({ headers }: Received) => headers as Record<string, string>

/** Each with the headers of a sender, and what verifies them: it throws or returns false. */
const SENDERS: Record<
  string,
  {
    sign: () => Record<string, string> | Promise<Record<string, string>>
    verify: (request: Received) => unknown
  }
> = {
  svix: {
    sign: () => {
      const now = new Date()
      const signature = new SvixWebhook(SECRET).sign('msg_1', now, BODY)
      const time = String(Math.floor(now.getTime() / 1000))
      return { 'svix-id': 'msg_1', 'svix-timestamp': time, 'svix-signature': signature }
    },
    verify: (request) => new SvixWebhook(SECRET).verify(request.body, headersOf(request)),
  },
  standardwebhooks: {
    sign: () => {
      const now = new Date()
      const signature = new StandardWebhook(SECRET).sign('msg_1', now, BODY)
      const time = String(Math.floor(now.getTime() / 1000))
      return { 'webhook-id': 'msg_1', 'webhook-timestamp': time, 'webhook-signature': signature }
    },
    verify: (request) => new StandardWebhook(SECRET).verify(request.body, headersOf(request)),
  },
  '@octokit/webhooks': {
    sign: async () => ({ 'x-hub-signature-256': await github.sign(BODY) }),
    verify: (request) =>
      github.verify(request.body, headersOf(request)['x-hub-signature-256'] ?? ''),
  },
  stripe: {
    sign: () => ({
      'stripe-signature': stripe.webhooks.generateTestHeaderString({
        payload: BODY,
        secret: SECRET,
      }),
    }),
    verify: (request) =>
      stripe.webhooks.constructEvent(
        request.body,
        headersOf(request)['stripe-signature'] ?? '',
        SECRET,
      ),
  },
}

describe.each<ProxyName>(['nginx', 'HAProxy'])('behind %s', (name) => {
  let origin: string
  let stopProxy: () => Promise<void>

  beforeAll(async () => {
    const port = await freePort()
    const target = portreeve.portreeve.wire
    stopProxy = await startProxy(name, { port, target, isBelowPath: false })
    origin = `https://localhost:${port}`
  })
  afterAll(() => stopProxy())

  async function send({ token }: Endpoint, headers: Record<string, string>): Promise<Received> {
    const sent = {
      method: 'POST',
      body: BODY,
      headers: { 'content-type': 'application/json', ...headers },
    }
    const answer = await requestOverHttp2(`${origin}/webhooks/${token}/a%2Fb?c=%zz`, sent)
    expect(answer.status).toBe(200)
    const [request] = await until(
      () => receiver.received,
      (all) => all.length > 0,
      30,
    )
    if (!request) throw new Error('nothing was received')
    return request
  }

  it.each(Object.keys(SENDERS))('%s verifies what is forwarded', async (sender) => {
    const { sign, verify } = SENDERS[sender] ?? SENDERS['svix']!
    const { endpoint } = await endpointWith({ sign: 'none' })
    const request = await send(endpoint, await sign())
    expect([request.body, request.path]).toEqual([BODY, '/in/a%2Fb?c=%zz'])
    expect(await verify(request)).not.toBe(false)
    const changed = { ...request, body: request.body.replace('1.10', '1.1') }
    await expect(
      (async () => {
        if ((await verify(changed)) === false) throw new Error('not valid')
      })(),
    ).rejects.toThrow()
  })

  it('svix and standardwebhooks verify the signature of the destination', async () => {
    const { endpoint, secret } = await endpointWith({ sign: 'standard' })
    const request = await send(endpoint, await SENDERS['standardwebhooks']!.sign())
    // Both throw where it is not valid.
    new StandardWebhook(secret).verify(request.body, headersOf(request))
    new SvixWebhook(secret).verify(request.body, headersOf(request))
    expect(() => new SvixWebhook(SECRET).verify(request.body, headersOf(request))).toThrow()
    // The sender’s own are there, too, under other names.
    const original = Object.fromEntries(
      ['id', 'timestamp', 'signature'].map((part) => [
        `webhook-${part}`,
        headersOf(request)[`x-original-webhook-${part}`] ?? '',
      ]),
    )
    new StandardWebhook(SECRET).verify(request.body, original)
  })
})
