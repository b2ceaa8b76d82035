import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'

export type Received = {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
  /** The body as it was sent. */
  bytes: Buffer
}

/** What the receiver answers; without one it takes the request and stays silent. */
export type Answer = (response: ServerResponse, request: Received) => void

/** An HTTP server that records requests and responds as the test configures. */
export type Receiver = {
  origin: string
  received: Received[]
  /** From now on. */
  answerWith(answer: Answer): void
  /** Disconnects clients that wait for a response. */
  hangUp(): void
  close(): Promise<void>
}

export const status =
  (code: number, body = '', headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(code, headers).end(body)

export const silence: Answer = () => {}

/** Steps of a request, as the receiver sees them. */
export type Step = 'connected' | 'received' | 'answered'
export type OnStep = (step: Step, socket: Socket) => void

export async function startReceiver(first: Answer, onStep: OnStep = () => {}): Promise<Receiver> {
  let answer = first
  const received: Received[] = []
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const bytes = await buffer(request)
    const one = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: bytes.toString('utf8'),
      bytes,
    }
    received.push(one)
    response.on('finish', () => onStep('answered', request.socket))
    onStep('received', request.socket)
    answer(response, one)
  }
  const server = createServer((request, response) => void take(request, response))
  server.on('connection', (socket) => onStep('connected', socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answerWith: (next) => void (answer = next),
    hangUp: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
