import { afterEach } from 'vitest'
import { checkAddress } from '../../src/diagnostics/blacklist.ts'
import type { BlacklistItem, BlacklistResult } from '../../src/diagnostics/shapes.ts'
import type { HostPort } from '../../src/setting-values.ts'
import { createResolver, type ResolverOptions } from '../../src/net/dns.ts'
import { readCatalogue } from '../../src/protocols/dnsbl/blocklist-catalogue.ts'
import { createBlocklists, type Blocklists } from '../../src/protocols/dnsbl/blocklists.ts'
import { startRbldnsd, startSlowServer, type Rbldnsd, type Zone } from './rbldnsd.ts'

/** An arbitrary address. The tests query lists on this machine only. */
export const IP = '8.8.4.4'

export const catalogue = readCatalogue()
export const enabled = catalogue.lists.filter((list) => list.enabled)

type Ttls = { ttl: number; negativeTtl: number }

/** The real daemon with every zone of the catalogue: healthy and empty, but for these. */
export function startLists(zones: Record<string, Zone> = {}, options?: Ttls): Promise<Rbldnsd> {
  const all = Object.fromEntries(catalogue.lists.map(({ zone }): [string, Zone] => [zone, {}]))
  return startRbldnsd({ ...all, ...zones }, options)
}

/** Starters for one test: what they start is stopped after it. */
export function startersForEach() {
  const running: { stop(): Promise<void> }[] = []
  afterEach(async () => {
    for (const each of running.splice(0)) await each.stop()
  })
  return {
    async lists(zones?: Record<string, Zone>, options?: Ttls): Promise<Rbldnsd> {
      const server = await startLists(zones, options)
      running.push(server)
      return server
    },
    async slow(target: HostPort, delayOf: (name: string) => number | null): Promise<HostPort> {
      const server = await startSlowServer(target, delayOf)
      running.push(server)
      return server
    },
  }
}

/** The catalogue's lists, asked through this server. */
export function open(
  server: HostPort,
  options: ResolverOptions & { keys?: Record<string, string> } = {},
): Blocklists {
  const resolver = createResolver({ servers: [server], timeoutMs: 2_500, ...options })
  return createBlocklists({
    catalogue,
    keys: new Map(Object.entries(options.keys ?? {})),
    resolver,
  })
}

export function check(
  blocklists: Blocklists,
  ip = IP,
  onItem?: (item: BlacklistItem) => void,
): Promise<BlacklistResult> {
  return checkAddress(ip, blocklists, AbortSignal.timeout(9_000), onItem)
}

export function itemOf(result: BlacklistResult, zone: string): BlacklistItem | undefined {
  return result.blacklists.find((item) => item.dnsbl === zone)
}
