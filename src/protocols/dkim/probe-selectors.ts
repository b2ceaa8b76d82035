import { randomBytes } from 'node:crypto'
import { forEachConcurrently } from '../../for-each-concurrently.ts'
import type { DnsFailure } from '../../net/dns.ts'
import { parseDkimKey, type DkimKey } from './dkim-key.ts'
import {
  KNOWN_SELECTORS,
  providerOfSelector,
  selectorsToTry,
  type Provider,
} from './dkim-selectors.ts'
import type { DnsQueries, TxtLookup } from '../dns-queries.ts'

/** The result for one selector. */
export type SelectorFinding = {
  selector: string
  provider: string | null
  /** Null when there is no key record, or when that is not known: see `error` and `tried`. */
  key: DkimKey | null
  /** Where a CNAME leads; with no key there, the alias was published but the key was not. */
  alias: string | null
  /** All key records there: only one may be. */
  texts: string[]
  /** Other TXT records beside a key, which receivers may take for the key (RFC 6376, 3.6.2.2). */
  strays: string[]
  /** The same record answers for any selector. */
  fromWildcard: boolean
  tried: boolean
  error: DnsFailure | null
}

export type DkimProbe = {
  /** In the order of trying. */
  findings: SelectorFinding[]
  /** A key that answers for every selector. */
  wildcard: DkimKey | null
  /** Some were left out because there is nothing below `_domainkey` at all. */
  nothingBelow: boolean
}

/**
 * Queries in flight at once: all selectors in one burst look like an attack to small name servers.
 */
const MAX_CONCURRENT_QUERIES = 20
/**
 * Tried even where `_domainkey` does not exist: by RFC 8020 nothing can be below it then, but some
 * servers say so wrongly of empty names.
 */
export const COMMON_SELECTORS = KNOWN_SELECTORS.slice(0, 10).map(({ selector }) => selector)
/**
 * Failures after which the remaining selectors are not tried: the name servers would not answer
 * them either.
 */
const MAX_FAILURES = 10

/**
 * Probes the requested selectors, those of the providers, and the known ones. Ends with the signal,
 * even if some are left.
 */
export async function probeSelectors(
  domain: string,
  { asked, providers }: { asked: string[]; providers: Provider[] },
  queries: DnsQueries,
): Promise<DkimProbe> {
  const base = `_domainkey.${domain}`
  const [top, random] = await Promise.all([
    queries.lookUpTxt(base),
    queries.lookUpTxt(`${randomLabel()}.${base}`),
  ])
  const wildcard =
    random.texts.map((text) => parseDkimKey(text)).find((key) => key !== null) ?? null
  // RFC 4592, 2.2.1: a wildcard above answers for `_domainkey` itself only if nothing is below it.
  const isOwn = top.exists && !isSameAnswer(top, random)
  const nothingBelow = !isOwn && !top.error && !random.error && wildcard === null
  const all = selectorsToTry(asked, providers)
  const selectors = nothingBelow
    ? all.filter((name) => asked.includes(name) || COMMON_SELECTORS.includes(name))
    : all
  const found = await lookUp(selectors, base, queries)
  const findings = selectors.map((selector) => findingOf(selector, found.get(selector), random))
  return { findings, wildcard, nothingBelow }
}

/** The results of the selectors that answered in time. */
async function lookUp(
  selectors: string[],
  base: string,
  queries: DnsQueries,
): Promise<Map<string, TxtLookup>> {
  const found = new Map<string, TxtLookup>()
  let [answered, failed] = [0, 0]
  await forEachConcurrently(selectors, MAX_CONCURRENT_QUERIES, async (selector) => {
    if (queries.signal.aborted || (failed >= MAX_FAILURES && answered === 0)) return
    const texts = await queries.lookUpTxt(`${selector}.${base}`)
    found.set(selector, texts)
    if (texts.error) failed += 1
    else answered += 1
  })
  return found
}

/** Both are given by one wildcard. */
function isSameAnswer(one: TxtLookup, other: TxtLookup): boolean {
  const hasContent = other.alias !== null || other.texts.length > 0
  return hasContent && one.alias === other.alias && one.texts.join('\n') === other.texts.join('\n')
}

/** @param random the answer for a selector that nobody published: a wildcard’s */
function findingOf(
  selector: string,
  found: TxtLookup | undefined,
  random: TxtLookup,
): SelectorFinding {
  const texts = found?.texts ?? []
  const keys = texts.map((text) => parseDkimKey(text)).filter((key) => key !== null)
  const [key = null] = keys
  const fromWildcard = found !== undefined && isSameAnswer(found, random)
  return {
    selector,
    provider: providerOfSelector(selector),
    key,
    alias: fromWildcard ? null : (found?.alias ?? null),
    texts: keys.map(({ text }) => text),
    strays: key === null ? [] : texts.filter((text) => parseDkimKey(text) === null),
    fromWildcard: key !== null && random.texts.includes(key.text),
    tried: found !== undefined,
    error: found?.error ?? null,
  }
}

function randomLabel(): string {
  return `x${randomBytes(8).toString('hex')}`
}
