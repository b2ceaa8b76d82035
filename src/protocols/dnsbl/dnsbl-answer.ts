import type { DnsAnswer, DnsFailure } from '../../net/dns.ts'
import type { Blocklist } from './blocklist-catalogue.ts'
import { decodeTxt } from '../dns-queries.ts'

/** The answer of a blocklist about an address. A failed query is not “not listed”. */
export type DnsblResult =
  | { status: 'listed' | 'clean'; codes: string[] }
  | {
      status: 'unknown'
      /** It answered that it rejects this resolver. */
      refused?: true
      codes: string[]
      /** Why, as a sentence. */
      detail: string
    }

/**
 * The absolute name to ask, so that no search domain is ever appended.
 * @param reversed the address as labels, last octet (IPv4) or nibble (IPv6) first (RFC 5782, 2.1
 *   and 2.4)
 * @param key the account's key, for lists that have it in the name; never show the result then
 */
export function queryName(reversed: string, list: Blocklist, key?: string): string {
  if (key === undefined || list.keyTemplate === undefined) return `${reversed}.${list.zone}.`
  const keyed = list.keyTemplate.replace('{key}', key)
  return keyed.includes('{reversed}')
    ? `${keyed.replace('{reversed}', reversed)}.`
    : `${reversed}.${keyed}.`
}

const LOOPBACK = /^127\./
/** Answers by which blocklists reject queries, whatever they document. */
const REFUSAL = /^127\.255\.255\./

const REFUSALS: Record<string, string> = {
  '127.255.255.252': 'wrong zone name',
  '127.255.255.254': 'query came through a public or open resolver',
  '127.255.255.255': 'too many queries, or resolver not registered',
}

/**
 * Interprets the answer to an A query at this blocklist. A documented listing is a listing,
 * whatever other codes the answer has.
 */
export function interpretAnswer(answer: DnsAnswer, list: Blocklist): DnsblResult {
  if (answer.status === 'FAILED')
    return unknown([], FAILURES[answer.failure], answer.failure === 'REFUSED')
  const codes = codesOf(answer)
  if (codes.length === 0 && answer.cnames.length > 0)
    return unknown([], 'Answered with an alias that has no target.')
  if (codes.length === 0) return { status: 'clean', codes }
  if (codes.some((code) => Object.hasOwn(list.codes, code))) return { status: 'listed', codes }
  return interpretUndocumented(codes, list)
}

function interpretUndocumented(codes: string[], list: Blocklist): DnsblResult {
  const refusal = codes.find((code) => isRefusal(code, list))
  if (refusal !== undefined) return unknown(codes, refusalSentence(refusal, list), true)
  const stray = codes.find((code) => !LOOPBACK.test(code))
  if (stray !== undefined)
    return unknown(codes, `Answered ${stray}, outside 127.0.0.0/8: ${REWRITTEN}.`)
  const left = codes.filter((code) => !Object.hasOwn(list.notListedCodes, code))
  if (left.length === 0) return { status: 'clean', codes }
  // Some blocklists answer blocked clients with 127.0.0.1. It is a listing only where the catalogue
  // says so.
  const listing = left.find((code) => !list.strictCodes && code !== '127.0.0.1')
  if (listing !== undefined) return { status: 'listed', codes }
  return unknown(
    codes,
    `Answered ${left.join(', ')}, which this list does not document as a listing.`,
  )
}

const REWRITTEN = 'the zone is parked, or the resolver rewrites answers'

/** Whether the answer contains an entry, documented or not. Used for the test entry 127.0.0.2. */
export function hasEntry(answer: DnsAnswer, list: Blocklist): boolean {
  const { status, codes } = interpretAnswer(answer, list)
  if (status === 'listed') return true
  return (
    codes.length > 0 &&
    codes.every((code) => LOOPBACK.test(code) && code !== '127.0.0.1' && !isRefusal(code, list))
  )
}

/** Whether some answer lies outside 127.0.0.0/8. */
export function isRewritten(answer: DnsAnswer): boolean {
  return answer.status !== 'FAILED' && codesOf(answer).some((code) => !LOOPBACK.test(code))
}

function codesOf(answer: DnsAnswer & { status: 'NOERROR' | 'NXDOMAIN' }): string[] {
  if (answer.records.length === 0) return []
  const codes = new Set(
    answer.records.flatMap((record) => (record.type === 'A' ? [record.data] : [])),
  )
  return [...codes].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
}

function isRefusal(code: string, list: Blocklist): boolean {
  return REFUSAL.test(code) || Object.hasOwn(list.refusalCodes, code)
}

function refusalSentence(code: string, list: Blocklist): string {
  const why = list.refusalCodes[code] ?? REFUSALS[code] ?? 'no reason documented'
  return `Refuses to answer this resolver: ${why} (${code}).`
}

function unknown(codes: string[], detail: string, refused = false): DnsblResult {
  return { status: 'unknown', codes, detail, ...(refused && { refused: true as const }) }
}

const FAILURES: Record<DnsFailure, string> = {
  TIMEOUT: 'Did not answer in time.',
  SERVFAIL: 'The resolver got no answer from the list (SERVFAIL).',
  REFUSED: 'The query was refused (REFUSED).',
  FORMERR: 'The query was not understood (FORMERR).',
  NOTIMP: 'The query was not understood (NOTIMP).',
  NETWORK: 'The resolver could not be reached.',
  ABORTED: 'The check ended before it answered.',
  BADNAME: 'The query name is not a domain name.',
  OTHER: 'The answer could not be parsed.',
  ALIASES: 'The name leads through more aliases than the resolver follows.',
}

/** The documented meaning of these codes, for people. */
export function meaningsOf(codes: string[], list: Blocklist): string[] {
  return codes.flatMap((code) => {
    const meaning = list.codes[code] ?? list.notListedCodes[code]
    return meaning === undefined ? bitsOf(code, list) : [meaning]
  })
}

function bitsOf(code: string, list: Blocklist): string[] {
  const octet = Number(code.split('.')[3])
  return Object.entries(list.bitmask ?? {}).flatMap(([bit, meaning]) =>
    octet & Number(bit) ? [meaning] : [],
  )
}

/** Maximum length of a reason, which is text from outside. */
const MAX_REASON_CHARACTERS = 512
/** Control characters, and characters that change the direction of text. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu

/**
 * The text a list gives with a listing, one record after the other and without the key; null when
 * there is none.
 */
export function reasonOf(answer: DnsAnswer, key?: string): string | null {
  if (answer.status === 'FAILED') return null
  const texts = answer.records.flatMap((record) =>
    record.type === 'TXT' ? [decodeTxt(record.data)] : [],
  )
  const joined = [...new Set(texts)].join(' | ').replace(UNPRINTABLE, ' ').trim()
  const masked = key ? joined.replaceAll(new RegExp(escaped(key), 'gi'), '***') : joined
  return masked.slice(0, MAX_REASON_CHARACTERS).toWellFormed() || null
}

function escaped(text: string): string {
  return text.replaceAll(/[^a-zA-Z0-9]/g, String.raw`\$&`)
}
