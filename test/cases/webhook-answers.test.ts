import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { forward, forwardAndRead } from '../../src/net/http/forward.ts'
import { createResolver } from '../../src/net/dns.ts'
import { sendAttempt } from '../../src/webhooks/forwarding/send-attempt.ts'
import { runCases } from './run-cases.ts'

/** The bytes with which a receiver answers. */
type Input = { answer: string }

runCases('webhook-answers.json', async ({ answer }: Input) => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(answer, 'latin1'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    const { signal } = new AbortController()
    const body = Buffer.from('x')
    const headers: [string, string][] = [['Content-Length', '1']]
    const sent = { method: 'POST', path: '/', headers, body }
    const failed = () => 'no response'
    const deps = { resolver: createResolver(), allowPrivate: true } as const
    const { status, kind } = await sendAttempt({ ...sent, url }, deps, signal)
    return {
      attempt: { status, kind },
      listen: await forward(url, sent, signal).catch(failed),
      answering: await forwardAndRead(url, sent, signal, 100).then(
        (response) => `${response.status} ${response.body.toString()}`,
        failed,
      ),
    }
  } finally {
    server.close()
  }
})
