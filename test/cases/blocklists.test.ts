import { FULL_CHECK } from '../../src/monitoring/checks/plan-checks.ts'
import type { ClaimedHost } from '../../src/monitoring/checks/host-checks.sql.ts'
import { checkListings } from '../../src/monitoring/blocklists/check-blocklists.ts'
import { evaluateListings } from '../../src/monitoring/blocklists/evaluate-blocklists.ts'
import type { FactRow } from '../../src/monitoring/facts/host-facts.sql.ts'
import { checkRecords } from '../../src/monitoring/records/check-records.ts'
import { evaluateRecords } from '../../src/monitoring/records/evaluate-records.ts'
import { planSteps } from '../../src/delisting/steps/plan-steps.ts'
import { parseHost, reversedLabels } from '../../src/net/address.ts'
import type { DnsFailure, Resolver } from '../../src/net/dns.ts'
import { readCatalogue } from '../../src/protocols/dnsbl/blocklist-catalogue.ts'
import { createBlocklists, type Listing } from '../../src/protocols/dnsbl/blocklists.ts'
import { interpretAnswer, meaningsOf } from '../../src/protocols/dnsbl/dnsbl-answer.ts'
import { DOMAIN_LISTS, interpretDomainAnswer } from '../../src/protocols/dnsbl/domain-lists.ts'
import { MINUTE_MS } from '../../src/time.ts'
import { answered } from '../protocols/dnsbl/dnsbl-answers.ts'
import { mapResolver, type MapResolver } from '../resolver.ts'
import type { Records } from '../servers/dns-records.ts'
import { runCases } from './run-cases.ts'

type Answer = { zone: string; codes: string[] }

const CATALOGUE = readCatalogue()

function listOf(zone: string) {
  const list = CATALOGUE.lists.find((one) => one.zone === zone)
  if (!list) throw new Error(`the catalogue has no ${zone}`)
  return list
}

/** An answer of a DNS blocklist of the catalogue. */
runCases('blocklists.json', ({ zone, codes }: Answer) => {
  const list = listOf(zone)
  const meanings = meaningsOf(codes, list).length
  return { status: interpretAnswer(answered(...codes), list).status, meanings }
})

/** An answer of a blocklist of domains. */
runCases('domain-blocklists.json', ({ zone, codes }: Answer) => {
  const list = DOMAIN_LISTS.find((one) => one.zone === zone)
  if (!list) throw new Error(`there is no ${zone}`)
  const { status, meanings } = interpretDomainAnswer(answered(...codes), list)
  return { status, meanings: meanings.length }
})

/** How an address is removed from a list that gave these answers; `method` null: it is not. */
runCases('delisting.json', ({ zone, codes }: Answer, { says }: { says?: string }) => {
  const list = listOf(zone)
  const listing = { list, codes, meanings: [], reason: null, detail: null, health: 'healthy' }
  const answer = { ...listing, status: 'listed', checkedAt: 0, expiresAt: 0 } as Listing
  const [step] = planSteps('192.0.2.1', [answer], false)
  if (!step) return { method: null }
  const { email, expectedHours, cooldownHours, last, notes = '', expiry = '' } = step.plan
  const text = `${expiry} ${notes}`
  const said = says === undefined || text.includes(says) ? says : text
  return { method: step.method, email, expectedHours, cooldownHours, last, says: said }
})

// --- the checks of a monitored host, one after the other ---

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
