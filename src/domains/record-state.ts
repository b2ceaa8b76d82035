import { invalidField } from '../errors.ts'
import { canonical, parseHost } from '../net/address.ts'
import { queryAuthoritative, type NameServerAnswer } from '../net/dns-authoritative.ts'
import { dataOf, type DnsAnswer } from '../net/dns.ts'
import { decodeTxt } from '../protocols/dns-queries.ts'
import { formatTlsa } from '../protocols/mail/tlsa.ts'
import { trimWsp } from '../protocols/tag-list.ts'
import { SECOND_MS } from '../time.ts'
import type { DomainDeps } from './domain-context.ts'
import type { RecordState, WATCHED_TYPES } from './shapes.ts'

type WatchedType = (typeof WATCHED_TYPES)[number]
export type RecordWish = { name: string; type: WatchedType; value?: string | undefined }

type RecordDeps = Pick<DomainDeps, 'resolver' | 'allowPrivate'> & {
  /** The port of name servers; another one in tests. */
  nameServerPort?: number | undefined
}

/** Records that are returned of one answer. */
const MAX_VALUES = 50

/**
 * Asks the name servers of a record’s zone whether it is published, and the resolver for the copy
 * that others may still see.
 * @param domain the registered domain that the record belongs to
 * @throws Fault `invalid_request`, `upstream_*`
 */
export async function findRecordState(
  domain: string,
  { name: text, type, value }: RecordWish,
  { resolver, allowPrivate, nameServerPort }: RecordDeps,
  signal: AbortSignal,
): Promise<RecordState> {
  const name = parseRecordName(text, domain)
  const [{ zone, answers }, cached] = await Promise.all([
    queryAuthoritative(name, type, { resolver, allowPrivate, port: nameServerPort }, signal),
    resolver.query(name, type, signal),
  ])
  const servers = answers.map((answer) => presentServer(answer, type, value))
  const answered = servers.filter(({ problem }) => problem === null)
  const matches =
    value === undefined || answered.length === 0
      ? null
      : answered.every((server) => server.matches === true)
  const copy = presentCopy(cached, type, value)
  return {
    name,
    type,
    zone,
    servers,
    values: [...new Set(answered.flatMap(({ values }) => values))].slice(0, MAX_VALUES),
    matches,
    cached: copy,
    visibleToEverybodyAt: matches === true ? visibleAt(copy) : null,
  }
}

/** Now, if the resolver has the new record already; otherwise when its copy has expired. */
function visibleAt({ matches, ttl }: RecordState['cached']): string | null {
  if (ttl === null) return null
  const seconds = matches === true ? 0 : ttl
  return new Date(Date.now() + seconds * SECOND_MS).toISOString()
}

/** Fixes are for names of the domain, reverse names, and consents of report receivers. */
function parseRecordName(text: string, domain: string): string {
  const host = parseHost(text, 'name')
  const name = host.kind === 'name' ? host.name : ''
  const isOurs = name === domain || name.endsWith(`.${domain}`)
  const isReverse = name.endsWith('.in-addr.arpa') || name.endsWith('.ip6.arpa')
  if (isOurs || isReverse || name.startsWith(`${domain}._report._dmarc.`)) return name
  const message = `must be ${domain} or a name below it`
  throw invalidField('name', message)
}

function presentServer(
  { server, answer, problem }: NameServerAnswer,
  type: WatchedType,
  value: string | undefined,
): RecordState['servers'][number] {
  const values = answer === null || problem !== null ? [] : valuesOf(answer, type)
  const matches = problem === null && value !== undefined ? isPublished(values, type, value) : null
  return { server, values: values.slice(0, MAX_VALUES), matches, problem }
}

function presentCopy(
  answer: DnsAnswer,
  type: WatchedType,
  value: string | undefined,
): RecordState['cached'] {
  if (answer.status === 'FAILED') return { values: [], matches: null, ttl: null }
  const values = valuesOf(answer, type)
  const matches = value === undefined ? null : isPublished(values, type, value)
  return { values: values.slice(0, MAX_VALUES), matches, ttl: answer.ttl }
}

function valuesOf(answer: DnsAnswer, type: WatchedType): string[] {
  if (type === 'TXT') return dataOf(answer, 'TXT').map(decodeTxt)
  if (type === 'TLSA') return dataOf(answer, 'TLSA').map(formatTlsa)
  if (type === 'CAA')
    return dataOf(answer, 'CAA').map(({ flags = 0, tag, value }) => `${flags} ${tag} "${value}"`)
  if (type === 'MX')
    return dataOf(answer, 'MX').map(({ preference = 0, exchange }) => `${preference} ${exchange}`)
  const data: string[] = dataOf(answer, type)
  return data.map(type === 'A' || type === 'AAAA' ? canonical : (name) => name.replace(/\.$/, ''))
}

/** Whether a record is there, and the only one of its kind where only one may be. */
export function isPublished(values: string[], type: WatchedType, wanted: string): boolean {
  const text = type === 'TXT' ? withoutQuotes(trimWsp(wanted)) : wanted
  const kind = type === 'TXT' ? kindOf(text) : null
  const key = normalize(text, type)
  const isThere = values.some((value) => {
    return normalize(value, type) === key && (kind === null || kindOf(value) === kind)
  })
  // RFC 6376, 3.6.2.2: beside a key, any other text may be taken for the key.
  const rivals = kind === DKIM ? values : values.filter((value) => kindOf(value) === kind)
  return isThere && (kind === null || rivals.length === 1)
}

/** The strings of a zone file (RFC 1035, 5.1) are one text. */
function withoutQuotes(text: string): string {
  return /^".*"$/s.test(text) ? text.slice(1, -1).replaceAll(/"[ \t]+"/g, '') : text
}

const DKIM = 'v=dkim1'
const VERSION = /^v=(?:spf1(?= |$)|(?:DMARC1|STSv1|TLSRPTv1|DKIM1|BIMI1)(?=[ \t;]|$))/i

/** `v=spf1`, `v=DMARC1`, … of which a name may have one record each. No space may be before it. */
function kindOf(text: string): string | null {
  const [version] = VERSION.exec(text) ?? []
  if (version !== undefined) return version.toLowerCase()
  return /(?:^|;)[ \t]*p[ \t]*=/.test(text) ? DKIM : null
}

/** Control panels change spaces and the case of names, which have no meaning. */
function normalize(value: string, type: WatchedType): string {
  const spaced = trimWsp(value).replaceAll(/[ \t]+/g, ' ')
  if (type === 'TXT') return spaced.replaceAll(/ ?; ?/g, ';').replace(/;$/, '')
  const plain = spaced.toLowerCase()
  if (type === 'A' || type === 'AAAA') return canonical(plain)
  if (type === 'CAA') return plain.replace(/^(\S+ \S+) "(.*)"$/, '$1 $2')
  if (type === 'TLSA') {
    const [usage, selector, matchingType, ...data] = plain.split(' ')
    return [usage, selector, matchingType, data.join('')].join(' ')
  }
  return plain.replace(/\.$/, '')
}
