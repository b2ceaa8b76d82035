import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { text } from 'node:stream/consumers'

/** A request to a scripted AbuseIPDB or blocklist.de: the real ones must not get reports of tests. */
type RelayedRequest = {
  path: string
  headers: IncomingHttpHeaders
  form: Record<string, string>
}

export type RelayServices = {
  origins: ReadonlyMap<string, string>
  requests: RelayedRequest[]
  /** Answers the next requests; by default each report is accepted. */
  answer: (request: RelayedRequest, response: ServerResponse) => void
  stop(): Promise<void>
}

export const acceptAll: RelayServices['answer'] = ({ path }, response) => {
  const body = path.startsWith('/en/')
    ? { status: 'success', error: 0 }
    : { data: { abuseConfidenceScore: 52 } }
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
}

export async function startRelayServices(): Promise<RelayServices> {
  const requests: RelayedRequest[] = []
  const services: RelayServices = { origins: new Map(), requests, answer: acceptAll, stop }
  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { headers, url: path = '' } = request
    const form = Object.fromEntries(new URLSearchParams(await text(request)))
    const received = { path, headers, form }
    requests.push(received)
    services.answer(received, response)
  }
  const server = createServer((request, response) => void receive(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const origin = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  const hosts = ['api.abuseipdb.com', 'www.blocklist.de', 'api.blocklist.de']
  services.origins = new Map(hosts.map((host) => [`https://${host}`, origin]))
  async function stop(): Promise<void> {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  return services
}
