import { once } from 'node:events'
import { connect } from 'node:net'
import type { Static } from 'typebox'
import { expect } from 'vitest'
import type { ListedRequest, WebhookEndpoint } from '../../src/webhooks/shapes.ts'
import { until } from '../alerts/module.ts'
import { sharedService, startTestService, type TestService, type Person } from '../service.ts'

export type Endpoint = Static<typeof WebhookEndpoint>
export type Captured = Static<typeof ListedRequest>

/** The fields that any of the routes may return. */
export type Answer = {
  success: boolean
  code: string
  error: string
  details: { path: string; message: string }[]
  endpoint: Endpoint
  responseSecret: string
  endpoints: Endpoint[]
  requests: Captured[]
  nextCursor: string | null
  hasMore: boolean
  deleted: number
  request: Captured
  signature: { status: string; reason: string } | null
  curl: string | null
}

/** A running service with one account, and helpers to call it. */
export type WebhooksTest = {
  portreeve: TestService
  alice: Person
  /** Calls the API as Alice, or with another account’s token. */
  api(
    method: string,
    path: string,
    body?: object,
    token?: string,
  ): Promise<{ status: number; json: Answer }>
  makeEndpoint(settings?: object): Promise<Endpoint>
  /** Waits until at least this many requests are captured, and returns them, newest first. */
  captured(endpoint: Endpoint, atLeast?: number): Promise<Captured[]>
  /** Sends these bytes on a connection of their own and reads until the service closes it. */
  raw(bytes: string | Buffer): Promise<string>
  stop(): Promise<void>
}

/** @param env settings of a service of its own; without them, it is the one of the worker */
export async function startWebhooks(env?: Record<string, string>): Promise<WebhooksTest> {
  const portreeve = await (env ? startTestService(env) : sharedService())
  const alice = await portreeve.addPerson('Alice')
  const base = '/api/webhook/endpoints'

  async function api(method: string, path: string, body?: object, token = alice.token) {
    const headers: Record<string, string> = body ? { 'content-type': 'application/json' } : {}
    const answer = await portreeve.request(base + path, {
      method,
      headers,
      ...(token && { token }),
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, json: (await answer.json()) as Answer }
  }

  return {
    portreeve,
    alice,
    api,
    async makeEndpoint(settings = {}) {
      const { status, json } = await api('POST', '', settings)
      expect(status, JSON.stringify(json)).toBe(201)
      return json.endpoint
    },
    captured({ id }, atLeast = 1) {
      const read = async () => (await api('GET', `/${id}/requests?limit=500`)).json.requests
      return until(read, ({ length }) => length >= atLeast, 15)
    },
    raw: (bytes) => sendRaw(portreeve.wire, bytes),
    stop: () => portreeve.stop(),
  }
}

/** Sends these bytes and reads until the other side closes. */
export async function sendRaw(url: string, bytes: string | Buffer): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  let answer = ''
  socket.setEncoding('latin1').on('data', (text: string) => (answer += text))
  socket.write(bytes, 'latin1')
  await once(socket, 'close')
  return answer
}
