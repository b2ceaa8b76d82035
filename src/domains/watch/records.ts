import { dataOf, type DnsAnswer, type RecordType, type Resolver } from '../../net/dns.ts'
import { decodeTxt } from '../../protocols/dns-queries.ts'
import { MAX_KNOWN_CHARACTERS, MAX_KNOWN_VALUES } from '../limits.ts'
import type { DomainEventRow, KnownRecords } from './watched-domains.sql.ts'

/** The records of a domain whose changes are events, below the domain. */
const WATCHED_RECORDS: { prefix: string; type: RecordType }[] = [
  { prefix: '', type: 'NS' },
  { prefix: '', type: 'MX' },
  { prefix: '', type: 'TXT' },
  { prefix: '', type: 'CAA' },
  { prefix: '', type: 'DS' },
  { prefix: '_dmarc.', type: 'TXT' },
  { prefix: '_mta-sts.', type: 'TXT' },
  { prefix: '_smtp._tls.', type: 'TXT' },
  { prefix: 'default._bimi.', type: 'TXT' },
]

/** Values by `name type`; null where the query failed, which is no change. */
export type ReadRecords = Record<string, string[] | null>

export async function readRecords(
  domain: string,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<ReadRecords> {
  const entries = await Promise.all(
    WATCHED_RECORDS.map(async ({ prefix, type }): Promise<[string, string[] | null]> => {
      const name = `${prefix}${domain}`
      return [`${name} ${type}`, valuesOf(await resolver.query(name, type, signal), type)]
    }),
  )
  return Object.fromEntries(entries)
}

/** In a fixed order, since servers turn theirs with every answer. */
function valuesOf(answer: DnsAnswer, type: RecordType): string[] | null {
  if (answer.status === 'FAILED') return null
  const values = [
    ...dataOf(answer, 'NS').map((name) => name.toLowerCase()),
    ...dataOf(answer, 'MX').map(
      ({ preference = 0, exchange }) => `${preference} ${exchange.toLowerCase()}`,
    ),
    ...dataOf(answer, 'TXT').map(decodeTxt),
    ...dataOf(answer, 'CAA').map(({ flags = 0, tag, value }) => `${flags} ${tag} "${value}"`),
    ...dataOf(answer, 'DS').map(
      ({ keyTag, algorithm, digestType, digest }) =>
        `${keyTag} ${algorithm} ${digestType} ${digest.toString('hex')}`,
    ),
  ]
  const mail = type === 'TXT' ? values.filter((value) => isMailRecord(value)) : values
  return [...new Set(mail.map(storable))].toSorted().slice(0, MAX_KNOWN_VALUES)
}

/** Verification tokens of web services come and go at the domain; they are not its mail. */
function isMailRecord(text: string): boolean {
  return /^\W*v\s*=\s*(?:spf|DMARC|STS|TLS-?RPT|BIMI)/i.test(text.slice(0, 40))
}

function storable(text: string): string {
  return text.slice(0, MAX_KNOWN_CHARACTERS).replaceAll('\0', '\uFFFD').toWellFormed()
}

/**
 * Compares records with the known ones. A change counts when it is seen a second time: name servers
 * of one zone may differ for a while. The first reading is no change.
 */
export function compareRecords(
  known: KnownRecords,
  read: ReadRecords,
  at: Date,
): { records: KnownRecords; events: DomainEventRow[] } {
  const records: KnownRecords = { ...known }
  const events: DomainEventRow[] = []
  for (const [key, values] of Object.entries(read)) {
    if (values === null) continue
    const before = known[key]
    if (!before || isSame(before.values, values)) {
      records[key] = { values, suspect: null }
    } else if (before.suspect === null || !isSame(before.suspect, values)) {
      records[key] = { ...before, suspect: values }
    } else {
      const [name = '', type = ''] = key.split(' ')
      events.push({ at, name, type, before: before.values, after: values })
      records[key] = { values, suspect: null }
    }
  }
  return { records, events }
}

function isSame(one: string[], other: string[]): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index])
}
