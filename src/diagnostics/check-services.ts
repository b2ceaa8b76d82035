import type { Config } from '../config.ts'
import type { PrivateTargets } from '../setting-values.ts'
import type { Logger } from '../log.ts'
import { createResolver, type DnsAnswer, type Resolver } from '../net/dns.ts'
import { readCatalogue } from '../protocols/dnsbl/blocklist-catalogue.ts'
import { createBlocklists, type Blocklists } from '../protocols/dnsbl/blocklists.ts'

/**
 * The services that checks receive: the DNS resolver, and the addresses that they may connect to.
 */
export type CheckDeps = {
  resolver: Resolver
  blocklists: Blocklists
  allowPrivate: PrivateTargets
  log: Logger
  /** DKIM selectors that a domain is known to sign with, from the account’s own reports. */
  selectorsSeen?: (domain: string) => Promise<string[]>
}

/** Told of every answer of the two resolvers, by its RCODE or by why there was none. */
export type OnDnsAnswer = (resolver: 'dns' | 'dnsbl', outcome: string) => void

/**
 * Creates the services for checks, both in the service and on the command line.
 * @throws Fault `invalid_request` when the operator’s own catalog is invalid
 */
export function createCheckServices(
  config: Config,
  log: Logger,
  onAsked?: OnDnsAnswer,
): { deps: CheckDeps; close(): void } {
  const tell = (name: 'dns' | 'dnsbl') =>
    onAsked && ((answer: DnsAnswer) => onAsked(name, outcomeOf(answer)))
  const resolver = createResolver({ servers: config.DNS_SERVERS, onAnswer: tell('dns') })
  const dnsblResolver = createResolver({ servers: config.DNSBL_SERVERS, onAnswer: tell('dnsbl') })
  const catalogue = readCatalogue(config.DNSBL_FILE)
  const blocklists = createBlocklists({
    catalogue,
    keys: config.DNSBL_KEYS,
    resolver: dnsblResolver,
  })
  return {
    deps: { resolver, blocklists, allowPrivate: config.ALLOW_PRIVATE_TARGETS, log },
    close() {
      resolver.close()
      dnsblResolver.close()
    },
  }
}

function outcomeOf(answer: DnsAnswer): string {
  return answer.status === 'FAILED' ? answer.failure : answer.status
}
