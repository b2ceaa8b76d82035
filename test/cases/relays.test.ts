import { afterAll } from 'vitest'
import { abuseIpdb } from '../../src/exchange/relays/services/abuseipdb.ts'
import { blocklistDe } from '../../src/exchange/relays/services/blocklist-de.ts'
import { createResolver } from '../../src/net/dns.ts'
import { startRelayServices } from '../servers/relay-services.ts'
import { runCases } from './run-cases.ts'

/** What a service answers to a report. */
type Input = {
  service: 'abuseipdb' | 'blocklist-de'
  reply: { status: number; body: unknown; headers?: Record<string, string> }
}

const SERVICES = { abuseipdb: abuseIpdb, 'blocklist-de': blocklistDe }

const REPORT = {
  address: '81.2.69.160',
  services: ['ssh'],
  port: 22,
  count: 5,
  reportedAt: new Date('2026-11-28T12:00:00Z'),
}

const services = await startRelayServices()
afterAll(() => services.stop())

runCases('relays.json', async ({ service, reply: { status, body, headers = {} } }: Input) => {
  services.answer = (_request, response) =>
    void response
      .writeHead(status, headers)
      .end(typeof body === 'string' ? body : JSON.stringify(body))
  const { origins } = services
  const deps = { resolver: createResolver(), allowPrivate: true as const, mailRelay: null, origins }
  const credentials = { account: '1234', key: 'abcdef0123456789' }
  return SERVICES[service].send(
    [REPORT],
    credentials,
    { ...deps, beforeHandover: async () => {} },
    AbortSignal.timeout(10_000),
  )
})
