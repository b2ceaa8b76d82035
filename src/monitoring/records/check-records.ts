import { parseHost } from '../../net/address.ts'
import { dataOf, type DnsAnswer, type RecordType, type Resolver } from '../../net/dns.ts'
import type { Observation } from '../facts/observation.ts'
import type { ClaimedHost } from '../checks/host-checks.sql.ts'

export type RecordDetail = { values: string[] }

const MONITORED_TYPES = ['A', 'AAAA', 'MX', 'NS', 'TXT'] as const

/**
 * Reads the DNS records of a monitored name, by subject (`example.com MX`); null where the query
 * failed.
 */
export async function checkRecords(
  { host, dnsRecords }: ClaimedHost,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<Map<string, Observation<RecordDetail>>> {
  const parsed = parseHost(host)
  if (!dnsRecords || parsed.kind === 'ip') return new Map()
  const { name } = parsed
  const queries: [string, RecordType][] = [
    ...MONITORED_TYPES.map((type): [string, RecordType] => [name, type]),
    [`_dmarc.${name}`, 'TXT'],
  ]
  const answers = await Promise.all(
    queries.map(async ([owner, type]) => resolver.query(owner, type, signal)),
  )
  const observations = queries.map(([owner, type], index): [string, Observation<RecordDetail>] => [
    `${owner} ${type}`,
    observeValues(answers[index] as DnsAnswer, type),
  ])
  // What an alias takes the place of is not observed any more, so the alias itself is.
  const aliases = [0, queries.length - 1].map((at): [string, Observation<RecordDetail>] => [
    `${queries[at]?.[0]} CNAME`,
    observeCname(answers[at] as DnsAnswer),
  ])
  return new Map([...observations, ...aliases])
}

function observeValues(answer: DnsAnswer, type: RecordType): Observation<RecordDetail> {
  // Records behind a CNAME belong to another party and may change every minute: only the CNAME is
  // monitored.
  if (answer.status === 'FAILED' || answer.cnames.length > 0) return null
  return observationOf(VALUES[type]?.(answer) ?? [])
}

function observeCname(answer: DnsAnswer): Observation<RecordDetail> {
  return answer.status === 'FAILED' ? null : observationOf(answer.cnames.slice(0, 1))
}

function observationOf(values: string[]): Observation<RecordDetail> {
  // PostgreSQL has no U+0000 in text.
  const sorted = values.map((value) => value.replaceAll('\0', '\uFFFD')).toSorted()
  return { state: sorted.join(' | '), detail: { values: sorted } }
}

const VALUES: Partial<Record<RecordType, (answer: DnsAnswer) => string[]>> = {
  A: (answer) => dataOf(answer, 'A'),
  AAAA: (answer) => dataOf(answer, 'AAAA'),
  MX: (answer) =>
    dataOf(answer, 'MX').map(({ preference = 0, exchange }) => `${preference} ${lower(exchange)}`),
  NS: (answer) => dataOf(answer, 'NS').map(lower),
  TXT: (answer) => dataOf(answer, 'TXT').map(textOf),
}

function lower(name: string): string {
  return name.toLowerCase().replace(/\.$/, '') || '.'
}

/** Joins the strings of one TXT record (RFC 7208, 3.3). */
function textOf(data: string | Buffer | (string | Buffer)[]): string {
  return Buffer.concat([data].flat().map((part) => Buffer.from(part as string))).toString('utf8')
}
