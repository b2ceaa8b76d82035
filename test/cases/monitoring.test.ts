import { checkListings } from '../../src/monitoring/blocklists/check-blocklists.ts'
import { evaluateListings } from '../../src/monitoring/blocklists/evaluate-blocklists.ts'
import {
  stateOf,
  type CertificateDetail,
} from '../../src/monitoring/certificates/check-certificates.ts'
import { evaluateCertificates } from '../../src/monitoring/certificates/evaluate-certificates.ts'
import { FULL_CHECK } from '../../src/monitoring/checks/plan-checks.ts'
import type { ClaimedHost } from '../../src/monitoring/checks/host-checks.sql.ts'
import type { FactRow } from '../../src/monitoring/facts/host-facts.sql.ts'
import { checkRecords } from '../../src/monitoring/records/check-records.ts'
import { evaluateRecords } from '../../src/monitoring/records/evaluate-records.ts'
import { parseHost, reversedLabels } from '../../src/net/address.ts'
import type { DnsFailure, Resolver } from '../../src/net/dns.ts'
import { readCatalogue } from '../../src/protocols/dnsbl/blocklist-catalogue.ts'
import { createBlocklists } from '../../src/protocols/dnsbl/blocklists.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/time.ts'
import { mapResolver, type MapResolver } from '../resolver.ts'
import type { Records } from '../servers/dns-records.ts'
import { runCases } from './run-cases.ts'

// The checks of a monitored host, one after the other.

const CATALOGUE = readCatalogue()

function listOf(zone: string) {
  const list = CATALOGUE.lists.find((one) => one.zone === zone)
  if (!list) throw new Error(`the catalogue has no ${zone}`)
  return list
}

const CONFIRM_MS = 5 * MINUTE_MS
const timeOf = (index: number) => new Date(Date.now() + index * 2 * CONFIRM_MS)
const stop = () => new AbortController().signal

function hostOf(host: string): ClaimedHost {
  const settings = { lists: {}, workspaceModes: {}, dnsRecords: true }
  return { id: 'host', host, ...settings, addresses: [], facts: [] } as unknown as ClaimedHost
}

/** The facts after a check. */
function mergeFacts(host: ClaimedHost, save: FactRow[], remove: FactRow[]): FactRow[] {
  const gone = new Set([...save, ...remove].map(({ subject }) => subject))
  return [...host.facts.filter(({ subject }) => !gone.has(subject)), ...save]
}

/** Each check finds these records, or no answer. */
type RecordChecks = { checks: (Records | DnsFailure)[] }

runCases('monitored-records.json', async ({ checks }: RecordChecks) => {
  const host = hostOf('example.com')
  const changes: string[] = []
  for (const [index, zone] of checks.entries()) {
    const resolver = typeof zone === 'string' ? mapResolver({}, { '*': zone }) : mapResolver(zone)
    const found = await checkRecords(host, resolver, stop())
    const updates = evaluateRecords(host, found, timeOf(index), CONFIRM_MS)
    for (const { subject, from, to } of updates.changes)
      changes.push(`${index + 1}: ${subject}: ${from} -> ${to}`)
    host.facts = mergeFacts(host, updates.save, updates.remove)
  }
  // PostgreSQL has no U+0000 in text.
  return { changes, canBeStored: !JSON.stringify([host.facts, changes]).includes('\\u0000') }
})

type ListingCheck = {
  /** The records of the host. */
  hosts?: Records
  /** Answers by `address zone`. */
  listed?: Record<string, string[]>
  /** Zones that answer every query with these. */
  everything?: Record<string, string[]>
  /** Zones that do not exist. */
  without?: string[]
  /** Failures by name, which are for everything below it. */
  failures?: Record<string, DnsFailure>
}

function resolverOf(zones: string[], check: ListingCheck): MapResolver {
  const { hosts = {}, listed = {}, everything = {}, without = [], failures = {} } = check
  const healthy = zones.filter((zone) => !without.includes(zone) && !(zone in everything))
  const records: Records = {
    ...hosts,
    ...Object.fromEntries(healthy.map((zone) => [`2.0.0.127.${zone} A`, ['127.0.0.2']])),
    ...Object.fromEntries(
      Object.entries(everything).map(([zone, codes]) => [`*.${zone} A`, codes]),
    ),
    ...Object.fromEntries(
      Object.entries(listed).map(([key, codes]) => {
        const [ip = '', zone = ''] = key.split(' ')
        return [`${reversedLabels(ip)}.${zone} A`, codes]
      }),
    ),
  }
  const failing = Object.entries(failures).flatMap(([name, failure]) =>
    [`${name} *`, `*.${name} *`].map((key) => [key, failure] as const),
  )
  return mapResolver(records, Object.fromEntries(failing))
}

type ListingChecks = { host: string; zones: string[]; checks: ListingCheck[] }

runCases('monitored-listings.json', async ({ host: name, zones, checks }: ListingChecks) => {
  const parsed = parseHost(name)
  const host = hostOf(parsed.kind === 'ip' ? parsed.address : parsed.name)
  let current = resolverOf(zones, {})
  const asked: string[] = []
  const resolver: Resolver = {
    servers: [],
    async query(question, type, signal) {
      const relative = question.replace(/\.$/, '')
      if (type === 'A') asked.push(relative)
      return current.query(relative, type, signal)
    },
  }
  const catalogue = { lists: zones.map(listOf), warnings: [] }
  const blocklists = createBlocklists({ catalogue, keys: new Map(), resolver })
  const deps = { resolver, blocklists, waitForTurn: async () => {} }
  const changes: string[] = []
  let last: ReturnType<typeof evaluateListings> | undefined
  for (const [index, check] of checks.entries()) {
    current = resolverOf(zones, check)
    const found = await checkListings(host, FULL_CHECK, deps, stop())
    last = evaluateListings(host, found, timeOf(index), CONFIRM_MS)
    for (const { to, ip, listing } of last.changes)
      changes.push(`${index + 1}: ${to} ${ip} ${listing.list.zone}`)
    host.facts = mergeFacts(host, last.save, last.remove)
    host.addresses = last.addresses
  }
  const unknown = last?.unknown.map(({ zone }) => zone)
  const tests = zones.flatMap((zone) => [`2.0.0.127.${zone}`, `1.0.0.127.${zone}`])
  const ofLists = asked.filter((one) => zones.some((zone) => one.endsWith(zone)))
  const questions = new Set(ofLists.filter((one) => !tests.includes(one)))
  return { changes, unknown, total: last?.total, asked: [...questions] }
})

type CertificateCheck = {
  hours: number
  /** Null where the port is not reached. */
  certificate: {
    name: string
    /** Days after the first check. */
    from: number
    to: number
    /** The end of its issuer. */
    issuerTo?: number
    isWrongHost?: boolean
  } | null
}

function observe(
  certificate: NonNullable<CertificateCheck['certificate']>,
  start: Date,
  now: Date,
) {
  const { name, from, to, issuerTo = to + 1, isWrongHost = false } = certificate
  const after = (days: number) => new Date(start.getTime() + days * DAY_MS)
  const path = [
    { validFrom: after(from), validTo: after(to) },
    { validFrom: after(from - 1_000), validTo: after(issuerTo) },
  ]
  const facts = { path, hostnameMatches: !isWrongHost, isTrusted: true }
  const detail: CertificateDetail = {
    validFrom: after(from).toISOString(),
    validTo: after(Math.min(to, issuerTo)).toISOString(),
    ...(issuerTo < to && { endsWith: 'Issuer' }),
    issuer: 'Issuer',
    names: ['example.com'],
    fingerprint256: name,
    trustError: null,
  }
  return { state: stateOf(facts as unknown as Parameters<typeof stateOf>[0], now), detail }
}

runCases('monitored-certificates.json', ({ checks }: { checks: CertificateCheck[] }) => {
  const host = { ...hostOf('example.com'), tlsPorts: [443] }
  const start = new Date('2026-01-01T00:00:00Z')
  const changes: string[] = []
  const due = new Set<string>()
  for (const { hours, certificate } of checks) {
    const now = new Date(start.getTime() + hours * HOUR_MS)
    const seen = new Map([[443, certificate && observe(certificate, start, now)]])
    const updates = evaluateCertificates(host, seen, now, CONFIRM_MS)
    for (const { from, to, baseline } of updates.changes)
      if (!baseline) changes.push(`${hours}: ${from} -> ${to}`)
    for (const { event, detail } of updates.renewals)
      if (event === 'due') due.add(detail.fingerprint256)
    host.facts = mergeFacts(host, updates.save, updates.remove)
  }
  return { changes, due: [...due] }
})
