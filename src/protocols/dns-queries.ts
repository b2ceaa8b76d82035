import { isUtf8 } from 'node:buffer'
import {
  dataOf,
  type DnsAnswer,
  type DnsFailure,
  type RecordType,
  type Resolver,
} from '../net/dns.ts'

/** The contents of a name’s TXT records, at the end of any CNAMEs. */
export type TxtLookup = {
  /** False when there is no such name (RFC 8020: nor anything below it). */
  exists: boolean
  /** One item a record, its strings joined. */
  texts: string[]
  /** Where a CNAME leads, when there is one. */
  alias: string | null
  /** Why the query failed; then an empty `texts` does not mean that there are none. */
  error: DnsFailure | null
}

/**
 * The queries of one check. Each query is sent once, however many parts of the check need it. All
 * end with the signal.
 */
export type DnsQueries = {
  readonly signal: AbortSignal
  query(name: string, type: RecordType): Promise<DnsAnswer>
  lookUpTxt(name: string): Promise<TxtLookup>
  /** All answers so far about this name and the names below it. */
  answersBelow(domain: string): DnsAnswer[]
}

export function createDnsQueries(resolver: Resolver, signal: AbortSignal): DnsQueries {
  const pending = new Map<string, Promise<DnsAnswer>>()
  const received: { name: string; answer: DnsAnswer }[] = []

  async function send(name: string, type: RecordType): Promise<DnsAnswer> {
    const answer = await resolver.query(name, type, signal)
    received.push({ name: name.toLowerCase(), answer })
    return answer
  }

  function query(name: string, type: RecordType): Promise<DnsAnswer> {
    const key = `${name.toLowerCase()} ${type}`
    const answer = pending.get(key) ?? send(name, type)
    pending.set(key, answer)
    return answer
  }

  const answersBelow = (domain: string) =>
    received
      .filter(({ name }) => name === domain || name.endsWith(`.${domain}`))
      .map(({ answer }) => answer)
  return {
    signal,
    query,
    lookUpTxt: async (name) => toTxtLookup(await query(name, 'TXT')),
    answersBelow,
  }
}

function toTxtLookup(answer: DnsAnswer): TxtLookup {
  // The reader needs no reason for the abort: the query took too long.
  if (answer.status === 'FAILED')
    return { exists: true, texts: [], alias: null, error: dnsFailureOf(answer) }
  // RFC 6604: an alias that leads nowhere exists all the same.
  const exists = answer.status === 'NOERROR' || answer.cnames.length > 0
  return {
    exists,
    texts: dataOf(answer, 'TXT').map(decodeTxt),
    alias: answer.cnames.at(-1) ?? null,
    error: null,
  }
}

/** Why there is no answer, or null when there is one. What we did not wait for was too slow. */
export function dnsFailureOf(answer: DnsAnswer): DnsFailure | null {
  if (answer.status !== 'FAILED') return null
  return answer.failure === 'ABORTED' ? 'TIMEOUT' : answer.failure
}

/**
 * RFC 7208, 3.3: the strings of a record are one text. What is not UTF-8, or has a zero octet, comes
 * as zone files write it: PostgreSQL has no U+0000 in text.
 */
export function decodeTxt(data: string | Buffer | (string | Buffer)[]): string {
  const bytes = Buffer.concat([data].flat().map((piece) => Buffer.from(piece)))
  if (isUtf8(bytes) && !bytes.includes(0)) return bytes.toString('utf8')
  return Array.from(bytes, escaped).join('')
}

function escaped(byte: number): string {
  return byte >= 0x20 && byte < 0x7f
    ? String.fromCodePoint(byte)
    : `\\${String(byte).padStart(3, '0')}`
}
