import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { HostPort } from '../../setting-values.ts'
import { explainListenError } from '../../net/acceptors.ts'
import { HEADERS_TIMEOUT_MS } from '../limits/server-limits.ts'

export type MetricsServer = {
  /** The port it listens on. */
  port: number
  close(): Promise<void>
}

export type MetricsSource = {
  contentType: string
  /** The text of all metrics. */
  read: () => Promise<string>
  isReady: () => Promise<boolean>
}

type Answer = { status: number; type: string; body: string }
type Page = () => Promise<Answer>

const TEXT = 'text/plain; charset=utf-8'
const NOT_FOUND: Answer = {
  status: 404,
  type: TEXT,
  body: 'Not found. This server has /metrics, /healthz and /readyz.\n',
}

/**
 * Serves `/metrics` for Prometheus, and `/healthz` and `/readyz` for an instance without the role
 * `web`. It has no authentication.
 * @throws Fault `unavailable` when the port cannot be opened
 */
export async function startMetricsServer(
  { address, port }: HostPort,
  { contentType, read, isReady }: MetricsSource,
): Promise<MetricsServer> {
  const pages: Record<string, Page> = {
    '/metrics': async () => ({
      status: 200,
      type: contentType,
      body: await read(),
    }),
    '/healthz': async () => ({ status: 200, type: TEXT, body: 'ok\n' }),
    '/readyz': async () => {
      const ready = await isReady()
      return { status: ready ? 200 : 503, type: TEXT, body: ready ? 'ready\n' : 'unavailable\n' }
    },
  }
  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: HEADERS_TIMEOUT_MS },
    (request, response) => {
      answer(pages, request, response).catch(() => response.destroy())
    },
  )
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause) =>
      reject(explainListenError(cause, { host: address, port, setting: 'METRICS_LISTEN' })),
    )
    server.listen(port, address, resolve)
  })
  const bound = server.address()
  return {
    port: bound !== null && typeof bound === 'object' ? bound.port : port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function answer(
  pages: Record<string, Page>,
  { method, url = '' }: IncomingMessage,
  response: ServerResponse,
) {
  const path = url.split('?')[0] ?? ''
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined
  const { status, type, body } = page ? await page() : NOT_FOUND
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
  response.end(method === 'HEAD' ? undefined : body)
}
