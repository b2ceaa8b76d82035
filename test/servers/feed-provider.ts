import { createServer, type IncomingHttpHeaders } from 'node:http'
import { once } from 'node:events'
import { PUBLIC_FEEDS } from '../../src/public-feeds/feed-catalogue.ts'

/** A scripted provider of public feeds: no real one changes its feeds on demand. */
export type FeedProvider = {
  /** For `providerOrigins`: the origins of all providers of the catalogue. */
  origins: ReadonlyMap<string, string>
  /** Files by path; a number is a status, text is sent with an ETag. */
  files: Map<string, string | number>
  requests: { path: string; headers: IncomingHttpHeaders; status: number }[]
  stop(): Promise<void>
}

export async function startFeedProvider(): Promise<FeedProvider> {
  const files: FeedProvider['files'] = new Map()
  const requests: FeedProvider['requests'] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const file = files.get(path) ?? 404
    const etag = `"${Buffer.from(String(file)).toString('base64url').slice(-40)}"`
    const isKnown = typeof file === 'string' && request.headers['if-none-match'] === etag
    const status = typeof file === 'number' ? file : isKnown ? 304 : 200
    requests.push({ path, headers: request.headers, status })
    if (status === 429) response.setHeader('retry-after', '7200')
    if (status === 200 || status === 304) response.setHeader('etag', etag)
    response.writeHead(status).end(status === 200 ? file : undefined)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  const urls = PUBLIC_FEEDS.flatMap((feed) => feed.urls)
  return {
    origins: new Map(urls.map((url) => [new URL(url).origin, `http://127.0.0.1:${port}`])),
    files,
    requests,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
