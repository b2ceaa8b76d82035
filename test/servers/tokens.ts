import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Says whose an access token is, as the authority of an OAuth provider does. */
export type Tokens = {
  /** URL for `startDovecot({ tokensAt })`. */
  url: string
  /** Users by token. Removed tokens have expired. */
  valid: Map<string, string>
  close(): Promise<void>
}

export async function startTokens(): Promise<Tokens> {
  const valid = new Map<string, string>()
  const server = createServer((request, response) => {
    const token = new URL(request.url ?? '', 'http://localhost').searchParams.get('token') ?? ''
    const user = valid.get(token)
    response.writeHead(user === undefined ? 401 : 200, {
      'content-type': 'application/json',
      connection: 'close',
    })
    response.end(JSON.stringify(user === undefined ? { error: 'invalid_token' } : { user }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/?token=`,
    valid,
    async close() {
      server.close()
      await once(server, 'close')
    },
  }
}
