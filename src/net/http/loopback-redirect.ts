import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type LoopbackRedirect = {
  /** `http://127.0.0.1:PORT/` */
  redirectUri: string
  /**
   * Waits until a browser comes back with a query.
   * @throws the signal’s reason
   */
  answer(signal: AbortSignal): Promise<URL>
  close(): void
}

/**
 * Listens on this machine for the redirect of an authorization server to a program (RFC 8252, 7.3).
 * @param text of the page that the browser shows
 */
export async function openLoopbackRedirect(text: string): Promise<LoopbackRedirect> {
  const { promise, resolve, reject } = Promise.withResolvers<URL>()
  const server = createServer({ maxHeaderSize: 16 * 1024 }, (request, response) => {
    const url = new URL(request.url ?? '/', redirectUri)
    const isAnswer = url.pathname === '/' && url.searchParams.has('state')
    response.writeHead(isAnswer ? 200 : 404, {
      'content-type': 'text/plain; charset=utf-8',
      connection: 'close',
    })
    response.end(isAnswer ? text : 'Not found.')
    if (isAnswer) resolve(url)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return {
    redirectUri,
    answer(signal) {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
      return promise
    },
    close: () => void server.close(),
  }
}
