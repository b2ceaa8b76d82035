import { networkInterfaces } from 'node:os'
import { canonical, parseAddress } from '../net/address.ts'
import { dataOf, type Resolver } from '../net/dns.ts'
import { MINUTE_MS } from '../time.ts'

/** The addresses of this service, which no server may ban. */
export type ServiceAddresses = {
  list(): string[]
  close(): void
}

const REFRESH_MS = 10 * MINUTE_MS

/**
 * Finds the addresses of this machine, and those that the names in `urls` resolve to, regularly.
 * When a name cannot be resolved, its last addresses stay.
 */
export function createServiceAddresses(
  urls: readonly string[],
  resolver: Pick<Resolver, 'query'> | undefined,
): ServiceAddresses {
  const hosts = [...new Set(urls.map((url) => new URL(url).hostname.replace(/^\[|\]$/g, '')))]
  const literal = hosts.filter((host) => parseAddress(host) !== null)
  const names = hosts.filter((host) => parseAddress(host) === null && host !== 'localhost')
  const resolved = new Map<string, string[]>()

  async function refresh(): Promise<void> {
    for (const name of resolver ? names : []) {
      const [v4, v6] = await Promise.all([
        resolver?.query(name, 'A'),
        resolver?.query(name, 'AAAA'),
      ])
      const found = [...(v4 ? dataOf(v4, 'A') : []), ...(v6 ? dataOf(v6, 'AAAA') : [])]
      if (found.length > 0) resolved.set(name, found.map(canonical))
    }
  }

  const timer = setInterval(() => void refresh(), REFRESH_MS).unref()
  void refresh()
  return {
    list: () => [
      ...literal.map(canonical),
      ...[...resolved.values()].flat(),
      ...interfaceAddresses(),
    ],
    close: () => clearInterval(timer),
  }
}

/** None where the sandbox of the service hides them (`RestrictAddressFamilies` without netlink). */
function interfaceAddresses(): string[] {
  try {
    const interfaces = Object.values(networkInterfaces()).flatMap((those) => those ?? [])
    return interfaces.map(({ address }) => address.split('%', 1)[0] ?? '')
  } catch {
    return []
  }
}
