import { createLog } from '../../src/log.ts'
import type { PrivateTargets } from '../../src/setting-values.ts'
import { checkDomain } from '../../src/domains/check-domain.ts'
import type { DomainDeps, ServiceName } from '../../src/domains/domain-context.ts'
import type { RegistrationLookup } from '../../src/domains/registration-lookup.ts'
import type { DomainLine, DomainReport, LineName } from '../../src/domains/shapes.ts'
import { createResolver, type DnsFailure, type Resolver } from '../../src/net/dns.ts'
import { createDomainLists } from '../../src/protocols/dnsbl/domain-lists.ts'
import { open } from '../servers/blacklists.ts'
import type { Rbldnsd, Zone } from '../servers/rbldnsd.ts'
import { startLists } from '../servers/blacklists.ts'
import { mapResolver } from '../resolver.ts'
import type { Records } from '../servers/dns-records.ts'

/** The domain lists, healthy, with these domains listed on the DBL. */
export function domainZones(listed: Record<string, string> = {}): Record<string, Zone> {
  return {
    'dbl.spamhaus.org': { domains: { 'dbltest.com': '127.0.1.2', ...listed } },
    'multi.surbl.org': { domains: { 'test.surbl.org': '127.0.0.254' } },
    'multi.uribl.com': { domains: { 'test.uribl.com': '127.0.0.14' } },
  }
}

/** All blocklists of addresses and domains, on this machine. */
export function startAllLists(zones: Record<string, Zone> = {}): Promise<Rbldnsd> {
  return startLists({ ...domainZones(), ...zones })
}

export type Wish = {
  domain?: string
  records?: Records
  failures?: Record<string, DnsFailure>
  resolver?: Resolver
  lists: { address: string; port: number }
  /** Milliseconds for a query of an address list, where these are slow. */
  listTimeoutMs?: number
  /** The first of the address lists, where a thousand queries are too many for a slow machine. */
  listCount?: number
  registrations?: RegistrationLookup
  allowPrivate?: PrivateTargets
  ports?: Partial<Record<ServiceName, number>>
  deadlineMs?: number
  reportEmail?: string
  safePolicy?: 'quarantine' | 'reject'
  onLine?: (line: DomainLine) => void
  stop?: AbortSignal
}

export const registeredUntil = (expiresAt: Date | null): RegistrationLookup => ({
  lookUp: async () => ({
    status: 'found',
    server: 'rdap.test',
    registration: { expiresAt, registeredAt: null, registrar: 'Example', statuses: [] },
  }),
})

const FAR = new Date(Date.now() + 300 * 86_400_000)

/** Checks a domain with these records and lists. Nothing listens on the ports without a wish. */
export function checkWith(wish: Wish): Promise<DomainReport> {
  const { listTimeoutMs, listCount } = wish
  const opened = open(wish.lists, listTimeoutMs ? { timeoutMs: listTimeoutMs } : {})
  const blocklists = { ...opened, lists: opened.lists.slice(0, listCount) }
  const deps: DomainDeps = {
    resolver: wish.resolver ?? mapResolver(wish.records, wish.failures),
    blocklists,
    domainLists: createDomainLists({
      ...blocklists,
      resolver: createResolver({ servers: [wish.lists], timeoutMs: 2_500 }),
    }),
    registrations: wish.registrations ?? registeredUntil(FAR),
    allowPrivate: wish.allowPrivate ?? true,
    log: createLog('silent'),
    ports: { smtp: 1, submission: 1, imaps: 1, https: 1, ...wish.ports },
    reportEmailOf: async () => wish.reportEmail ?? null,
    safePolicyOf: async () => wish.safePolicy ?? null,
  }
  return checkDomain(
    wish.domain ?? 'example.com',
    deps,
    wish.stop ?? new AbortController().signal,
    {
      ...(wish.onLine && { onLine: wish.onLine }),
      ...(wish.deadlineMs !== undefined && { deadlineMs: wish.deadlineMs }),
    },
  )
}

export function lineOf(report: DomainReport, name: LineName): DomainLine {
  const line = report.lines.find((one) => one.name === name)
  if (!line) throw new Error(`the report has no line ${name}`)
  return line
}

export const statesOf = (report: DomainReport) =>
  Object.fromEntries(report.lines.map(({ name, state }) => [name, state]))
