import packet from 'dns-packet'
import { createDomainContext, type DomainDeps } from '../../src/domains/domain-context.ts'
import { dnssecLine } from '../../src/domains/lines/dnssec-line.ts'
import { readAnswer } from '../../src/net/dns-wire.ts'
import { mapResolver } from '../resolver.ts'
import type { Records } from '../servers/dns-records.ts'
import { runCases } from './run-cases.ts'

type Aliases = {
  /** The number of aliases in one answer, from n0.test on. */
  count: number
  /** Where the last one leads back to. */
  backTo?: string
  /** Whether the records come in reverse order. */
  isReversed?: boolean
  /** Whether the resolver stopped at the last alias. */
  isCut?: boolean
  /** Whether the answer has an SOA record: the last alias leads to a name without addresses. */
  hasSoa?: boolean
}

const SOA = {
  type: 'SOA' as const,
  name: 'test',
  ttl: 60,
  data: { mname: 'a', rname: 'b', serial: 1, refresh: 2, retry: 3, expire: 4, minimum: 5 },
}

/** The addresses that an answer with many aliases has. */
function followAliases({ count, backTo, isReversed, isCut, hasSoa }: Aliases) {
  const last = backTo ?? `n${count}.test`
  const chain = Array.from({ length: count }, (_, index) => ({
    type: 'CNAME' as const,
    name: `n${index}.test`,
    ttl: 60,
    data: index === count - 1 ? last : `N${index + 1}.test`,
  }))
  const end = { type: 'A' as const, name: `n${count}.test`, ttl: 60, data: '192.0.2.1' }
  const inOrder = isCut || hasSoa ? chain : [...chain, end]
  const answers = isReversed ? inOrder.toReversed() : inOrder
  const flags = packet.RECURSION_AVAILABLE
  const bytes = packet.encode({
    type: 'response',
    flags,
    answers,
    authorities: hasSoa ? [SOA] : [],
  })
  const reading = readAnswer(bytes, 'n0.test', 'A')
  if (!reading || 'failure' in reading) return { addresses: null, failure: reading?.failure }
  const addresses = reading.records.map((record) => (record as { data?: unknown }).data)
  return { addresses, aliases: reading.cnames.length }
}

runCases('aliases.json', followAliases)

type Zone = { domain: string; records: Records; unsigned: string[] }

/** The line “DNSSEC” for a domain; names outside `unsigned` are secured. */
async function checkDnssec({ domain, records, unsigned }: Zone) {
  const zone = { '. SOA': ['a. b. 1 2 3 4 5'], ...records }
  const isSigned = (name: string) =>
    !unsigned.some((each) => name === each || name.endsWith(`.${each}`))
  const deps = { resolver: mapResolver(zone, {}, isSigned) } as unknown as DomainDeps
  const name = { kind: 'name', name: domain, unicode: domain } as const
  const line = await dnssecLine.check(createDomainContext(name, deps, AbortSignal.timeout(30_000)))
  return { state: line.state, isUsed: line.isUsed ?? true, summary: line.summary }
}

runCases('dnssec.json', checkDnssec)
