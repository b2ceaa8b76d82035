import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { dataOf, type DnsAnswer } from '../../net/dns.ts'
import { MINUTE_MS } from '../../time.ts'
import { ROOT } from '../../version.ts'
import type { Blocklists } from './blocklists.ts'

/** A blocklist of domain names (`data/domain-blocklists.json`). */
export type DomainList = {
  name: string
  zone: string
  /** The zone for queries with an account key: `{key}.dbl.dq.spamhaus.net`. */
  keyTemplate?: string
  /** The list of addresses whose key is also the key of this one. */
  keyOf?: string
  /** Entries are registered domains. */
  registeredDomain: boolean
  /** Always listed. */
  testDomain: string
  codes?: Record<string, string>
  bitmask?: Record<string, string>
  refusalCodes: Record<string, string>
  lookupUrl: string
}

/** The result of one list for one domain. `unknown` never means “not listed”. */
export type DomainListing = {
  list: DomainList
  status: 'listed' | 'clean' | 'unknown'
  /** The name that was asked for. */
  domain: string
  codes: string[]
  meanings: string[]
  /** Why the result is unknown, as a sentence. */
  detail: string | null
}

export const DOMAIN_LISTS: readonly DomainList[] = (
  JSON.parse(readFileSync(join(ROOT, 'data', 'domain-blocklists.json'), 'utf8')) as {
    lists: DomainList[]
  }
).lists

export type DomainLists = {
  /** Asks every list about a domain. Never throws. */
  check(
    names: { domain: string; registeredDomain: string },
    signal: AbortSignal,
  ): Promise<DomainListing[]>
}

/** Milliseconds for which a list that returned its test entry is trusted. */
const PROOF_LIFETIME_MS = 45 * MINUTE_MS

/**
 * Creates the domain blocklists. A list counts as “not listed” only while it returns its test
 * entry through the same resolver.
 */
export function createDomainLists({
  resolver,
  lists,
  keyOf,
}: Pick<Blocklists, 'resolver' | 'lists' | 'keyOf'>): DomainLists {
  const provenUntil = new Map<string, number>()
  const keyFor = (list: DomainList) => {
    const found = lists.find(({ zone }) => zone === list.keyOf)
    return found && keyOf(found)
  }
  const ask = (domain: string, list: DomainList, signal: AbortSignal) =>
    resolver.query(domainQueryName(domain, list, keyFor(list)), 'A', signal)

  /** Why the list is of no use now; null when it returned its test entry. */
  async function findObstacle(list: DomainList, signal: AbortSignal): Promise<string | null> {
    if ((provenUntil.get(list.zone) ?? 0) > performance.now()) return null
    const test = interpretDomainAnswer(await ask(list.testDomain, list, signal), list)
    if (test.status === 'listed') {
      provenUntil.set(list.zone, performance.now() + PROOF_LIFETIME_MS)
      return null
    }
    return test.detail ?? 'Does not return its test entry, so “not listed” is not reliable.'
  }

  async function listsEverything(list: DomainList, signal: AbortSignal): Promise<boolean> {
    const control = await ask(UNLISTED_DOMAIN, list, signal)
    return interpretDomainAnswer(control, list).status === 'listed'
  }

  async function checkOne(
    domain: string,
    list: DomainList,
    signal: AbortSignal,
  ): Promise<DomainListing> {
    const [answer, obstacle] = await Promise.all([
      ask(domain, list, signal),
      findObstacle(list, signal),
    ])
    const found = interpretDomainAnswer(answer, list)
    if (found.status === 'listed' && (await listsEverything(list, signal)))
      return { list, domain, ...unknown(found.codes, 'Lists every domain.') }
    if (found.status === 'unknown') provenUntil.delete(list.zone)
    const result =
      obstacle !== null && found.status === 'clean' ? unknown(found.codes, obstacle) : found
    return { list, domain, ...result }
  }

  return {
    check: ({ domain, registeredDomain }, signal) =>
      Promise.all(
        DOMAIN_LISTS.map((list) =>
          checkOne(list.registeredDomain ? registeredDomain : domain, list, signal),
        ),
      ),
  }
}

/** RFC 5782, 5: no list may have this name. One that does was given up, or is a wildcard. */
const UNLISTED_DOMAIN = 'invalid'

/** The absolute name to ask. With a key it must not be shown. */
export function domainQueryName(domain: string, list: DomainList, key?: string): string {
  const zone =
    key !== undefined && list.keyTemplate !== undefined
      ? list.keyTemplate.replace('{key}', key)
      : list.zone
  return `${domain}.${zone}.`
}

type Interpreted = Pick<DomainListing, 'status' | 'codes' | 'meanings' | 'detail'>

/** Interprets the answer of a list. Only documented answers are listings. */
export function interpretDomainAnswer(answer: DnsAnswer, list: DomainList): Interpreted {
  if (answer.status === 'FAILED')
    return unknown([], `The list could not be queried (${answer.failure}).`)
  const codes = [...new Set(dataOf(answer, 'A'))].toSorted()
  if (codes.length === 0)
    return answer.cnames.length > 0
      ? unknown([], 'Answered with an alias that has no target.')
      : { status: 'clean', codes, meanings: [], detail: null }
  for (const code of codes) {
    const why = refusalOf(code, list)
    if (why !== null) return unknown(codes, `Refuses to answer this resolver: ${why} (${code}).`)
  }
  const meanings = codes.flatMap((code) => meaningsOf(code, list))
  if (meanings.length > 0) return { status: 'listed', codes, meanings, detail: null }
  return unknown(
    codes,
    `Answered ${codes.slice(0, 4).join(', ')}, which this list does not document as a listing.`,
  )
}

/**
 * Why the list rejects the query; null when it answers. In a bitmask, a refusal is a bit, too: URIBL
 * sets all of them for a resolver that it blocks.
 */
function refusalOf(code: string, { refusalCodes, bitmask }: DomainList): string | null {
  const isSame = (refusal: string) =>
    code === refusal || (bitmask && isInBitmask(code) && (octetOf(code) & octetOf(refusal)) !== 0)
  const [, why] = Object.entries(refusalCodes).find(([refusal]) => isSame(refusal)) ?? []
  return why ?? (code.startsWith('127.255.255.') ? 'no reason documented' : null)
}

const isInBitmask = (code: string) => code.startsWith('127.0.0.')
const octetOf = (code: string) => Number(code.split('.')[3])

function meaningsOf(code: string, { codes = {}, bitmask }: DomainList): string[] {
  if (!bitmask) return Object.hasOwn(codes, code) ? [codes[code] as string] : []
  if (!isInBitmask(code)) return []
  const octet = octetOf(code)
  return Object.entries(bitmask).flatMap(([bit, meaning]) => (octet & Number(bit) ? [meaning] : []))
}

function unknown(codes: string[], detail: string): Interpreted {
  return { status: 'unknown', codes, meanings: [], detail }
}
