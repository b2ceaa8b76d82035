import { parseHost } from '../../net/address.ts'
import { dataOf, type DnsAnswer, type RecordType, type Resolver } from '../../net/dns.ts'
import type { Seen } from '../facts/judge.ts'
import type { ClaimedHost } from '../looks/store.ts'

export type RecordDetail = { values: string[] }

const OF_NAME = ['A', 'AAAA', 'MX', 'NS', 'TXT'] as const

/** What the DNS says of a watched name, by `example.com MX`; null where it said nothing. */
export async function lookAtRecords(
  { host, dnsRecords }: ClaimedHost,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<Map<string, Seen<RecordDetail>>> {
  const parsed = parseHost(host)
  if (!dnsRecords || parsed.kind === 'ip') return new Map()
  const { name } = parsed
  const questions: [string, RecordType][] = [
    ...OF_NAME.map((type): [string, RecordType] => [name, type]),
    [`_dmarc.${name}`, 'TXT'],
  ]
  const answers = await Promise.all(questions.map(async ([owner, type]) => resolver.query(owner, type, signal)))
  const seen = questions.map(([owner, type], index): [string, Seen<RecordDetail>] => [
    `${owner} ${type}`,
    seenIn(answers[index] as DnsAnswer, type),
  ])
  return new Map([...seen, [`${name} CNAME`, aliasIn(answers[0] as DnsAnswer)]])
}

function seenIn(answer: DnsAnswer, type: RecordType): Seen<RecordDetail> {
  // Behind an alias the records are somebody else’s, who may change them every minute; the alias itself is watched.
  if (answer.status === 'FAILED' || answer.cnames.length > 0) return null
  return seenValues(VALUES[type]?.(answer) ?? [])
}

function aliasIn(answer: DnsAnswer): Seen<RecordDetail> {
  return answer.status === 'FAILED' ? null : seenValues(answer.cnames.slice(0, 1))
}

function seenValues(values: string[]): Seen<RecordDetail> {
  const sorted = values.toSorted()
  return { state: sorted.join(' | '), detail: { values: sorted } }
}

const VALUES: Partial<Record<RecordType, (answer: DnsAnswer) => string[]>> = {
  A: (answer) => dataOf(answer, 'A'),
  AAAA: (answer) => dataOf(answer, 'AAAA'),
  MX: (answer) => dataOf(answer, 'MX').map(({ preference = 0, exchange }) => `${preference} ${lower(exchange)}`),
  NS: (answer) => dataOf(answer, 'NS').map(lower),
  TXT: (answer) => dataOf(answer, 'TXT').map(textOf),
}

function lower(name: string): string {
  return name.toLowerCase().replace(/\.$/, '') || '.'
}

/** The strings of one record joined. */
function textOf(data: string | Buffer | (string | Buffer)[]): string {
  return Buffer.concat([data].flat().map((part) => Buffer.from(part as string))).toString('utf8')
}
