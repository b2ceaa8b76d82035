import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { createResolver } from '../../src/net/dns.ts'
import { createGuardedFetch } from '../../src/net/http/guarded-fetch.ts'
import type { FeedFormat } from '../../src/public-feeds/feed-catalogue.ts'
import { fetchFiles } from '../../src/public-feeds/fetch-files.ts'
import { parseFeed } from '../../src/public-feeds/parse-feed.ts'
import { formatNetwork } from '../../src/protocols/networks/network.ts'
import { runCases } from './run-cases.ts'

type Input = {
  format: FeedFormat
  body: string
  response?: {
    status?: number
    /** Content-Length, in place of the right one; the connection ends after the body. */
    declared?: number
    gzip?: boolean
    latin1?: boolean
    redirects?: number
  }
}

runCases('public-feeds.json', async ({ format, body, response = {} }: Input, expected) => {
  const part = (expected as { refused?: string | null }).refused ?? null
  let redirects = response.redirects ?? 0
  const server = createServer((request, reply) => {
    if (redirects-- > 0) reply.writeHead(302, { location: `${request.url}/more` }).end()
    else answer(reply, body, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/list`
  const guard = { resolver: createResolver(), allowPrivate: true as const }
  const deps = { request: createGuardedFetch(guard, 5_000), signal: AbortSignal.timeout(5_000) }
  try {
    const files = await fetchFiles([url], {}, deps)
    const { networks, skipped } = parseFeed(format, files?.texts ?? [])
    return { networks: networks.map(formatNetwork), skipped, refused: null }
  } catch (error) {
    const { message } = error as Error
    return { refused: part !== null && message.includes(part) ? part : message }
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

function answer(
  reply: ServerResponse,
  text: string,
  { status = 200, declared, gzip = false, latin1 = false }: NonNullable<Input['response']>,
): void {
  const plain = Buffer.from(text, latin1 ? 'latin1' : 'utf8')
  const body = gzip ? gzipSync(plain) : plain
  reply.writeHead(status, {
    ...(gzip && { 'content-encoding': 'gzip' }),
    ...(declared !== undefined && { 'content-length': declared }),
  })
  if (declared === undefined) reply.end(body)
  else reply.write(body, () => reply.destroy())
}
