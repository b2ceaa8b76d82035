import type { DnsQueries } from '../dns-queries.ts'
import {
  identifyClient,
  isClientWithin,
  macroValuesOf,
  withoutDot,
  type SpfClient,
} from './spf-client.ts'
import {
  countLookup,
  lookUpAddresses,
  lookUpClientNames,
  lookUpExchangeAddresses,
  validatedNames,
  type SpfCheck,
} from './spf-lookups.ts'
import { expandDomain, expandMacros, isQueryable, type MacroValues } from './spf-macros.ts'
import {
  effectiveTerms,
  isExplanation,
  isSpf,
  parseSpf,
  redirectOf,
  type Mechanism,
  type MechanismName,
  type Qualifier,
  type SpfRecord,
} from './spf-record.ts'
import { permerror, SpfEnded, type SpfResult } from './spf-result.ts'

export type SpfEvaluation = {
  result: SpfResult
  /**
   * The domain whose record was evaluated, and the mechanism of it that decided; null when none
   * did.
   */
  matched: { domain: string; term: string } | null
  /** Why there is no result, or no mechanism that decided; null when one did. */
  reason: string | null
  /** The explanation for a `fail` that the domain publishes (RFC 7208, 6.2). */
  explanation: string | null
  lookups: number
  voidLookups: number
}

const RESULTS: Record<Qualifier, SpfResult> = {
  '+': 'pass',
  '-': 'fail',
  '~': 'softfail',
  '?': 'neutral',
}

/** The result of one record. `exp` is the domain-spec of its explanation. */
type Verdict = Pick<SpfEvaluation, 'result' | 'matched' | 'reason'> & {
  domain: string
  exp: string | null
}

/**
 * Decides whether an address may send for a domain: `check_host()` of RFC 7208, 4. Never throws.
 */
export async function evaluateSpf(client: SpfClient, queries: DnsQueries): Promise<SpfEvaluation> {
  const counts = { lookups: 0, voidLookups: 0 }
  const check = { client: identifyClient(client), queries, counts, clientNames: null }
  try {
    const verdict = await checkSender(check)
    const explanation = await explain(check, verdict)
    const { result, matched, reason } = verdict
    return { result, matched, reason, explanation, ...counts }
  } catch (error) {
    if (!(error instanceof SpfEnded)) throw error
    const { result, message: reason } = error
    return { result, matched: null, reason, explanation: null, ...counts }
  }
}

async function checkSender(check: SpfCheck): Promise<Verdict> {
  const { domain } = check.client
  if (isDomain(domain)) return checkDomain(check, domain)
  throw new SpfEnded('none', `“${domain}” is not a domain name`)
}

async function checkDomain(check: SpfCheck, domain: string): Promise<Verdict> {
  if (!isQueryable(domain)) return none(domain, `“${domain}” is not a domain name`)
  const { texts, error } = await check.queries.lookUpTxt(domain)
  if (error === 'BADNAME') return none(domain, `“${domain}” is not a domain name`)
  if (error)
    throw new SpfEnded(
      'temperror',
      `the TXT records of ${domain} could not be looked up (${error})`,
    )
  const [text, ...more] = texts.filter(isSpf)
  if (text === undefined) return none(domain, `${domain} has no SPF record`)
  if (more.length > 0) throw permerror(`${domain} has ${more.length + 1} SPF records`)
  return evaluateRecord(check, domain, parseSpf(text))
}

function none(domain: string, reason: string): Verdict {
  return { result: 'none', matched: null, reason, domain, exp: null }
}

async function evaluateRecord(
  check: SpfCheck,
  domain: string,
  record: SpfRecord,
): Promise<Verdict> {
  const [wrong] = record.errors
  if (wrong)
    throw permerror(
      `the record of ${domain} has an error at character ${wrong.at + 1}: ${wrong.message}`,
    )
  const terms = effectiveTerms(record)
  const exp = terms.find(({ kind, name }) => kind === 'modifier' && name === 'exp')?.value ?? null
  for (const term of terms) {
    if (term.kind !== 'mechanism' || !(await matchesTerm(check, term, domain))) continue
    const matched = { domain, term: term.text }
    return { result: RESULTS[term.qualifier], matched, reason: null, domain, exp }
  }
  const redirect = redirectOf(record)
  if (redirect !== null) return followRedirect(check, redirect, domain)
  const reason = `no mechanism in the record of ${domain} matches`
  return { result: 'neutral', matched: null, reason, domain, exp }
}

/** RFC 7208, 6.1. */
async function followRedirect(check: SpfCheck, redirect: string, domain: string): Promise<Verdict> {
  countLookup(check, `redirect=${redirect}`)
  const verdict = await checkDomain(check, await expandTarget(check, redirect, domain))
  if (verdict.result === 'none') throw permerror(`redirect=${redirect}: ${verdict.reason}`)
  return verdict
}

type MechanismRule = {
  /** Whether it counts as a DNS lookup (RFC 7208, 4.6.4). Then `host` is its expanded argument. */
  isLookup: boolean
  matches(check: SpfCheck, term: Mechanism, host: string): boolean | Promise<boolean>
}

/** The mechanisms (RFC 7208, 5). Without an argument, `host` is the domain of the record. */
const RULES: Record<MechanismName, MechanismRule> = {
  all: { isLookup: false, matches: () => true },
  ip4: {
    isLookup: false,
    matches: ({ client }, { value, cidr4 }) => isClientWithin(client, value ?? '', cidr4),
  },
  ip6: {
    isLookup: false,
    matches: ({ client }, { value, cidr6 }) => isClientWithin(client, value ?? '', cidr6),
  },
  include: { isLookup: true, matches: includes },
  a: {
    isLookup: true,
    matches: async (check, term, host) =>
      hasClient(check, term, await lookUpAddresses(check, host, check.client.addressType, term)),
  },
  mx: {
    isLookup: true,
    matches: async (check, term, host) =>
      hasClient(check, term, await lookUpExchangeAddresses(check, host, term)),
  },
  ptr: {
    isLookup: true,
    matches: async (check, term, host) =>
      (await lookUpClientNames(check, term)).some((own) => isAtOrBelow(own, host)),
  },
  // RFC 7208, 5.7: `exists` queries A records, for clients of both families.
  exists: {
    isLookup: true,
    matches: async (check, term, host) =>
      (await lookUpAddresses(check, host, 'A', term)).length > 0,
  },
}

async function matchesTerm(check: SpfCheck, term: Mechanism, domain: string): Promise<boolean> {
  const rule = RULES[term.name]
  if (!rule.isLookup) return rule.matches(check, term, domain)
  countLookup(check, term.text)
  const host = term.value === null ? domain : await expandTarget(check, term.value, domain)
  return rule.matches(check, term, host)
}

/** RFC 7208, 5.2: only a `pass` of the other record matches. */
async function includes(check: SpfCheck, term: Mechanism, host: string): Promise<boolean> {
  const { result, reason } = await checkDomain(check, host)
  if (result === 'none') throw permerror(`${term.text}: ${reason}`)
  return result === 'pass'
}

/** Whether the client has one of these addresses, up to the term’s prefix length if it has one. */
function hasClient(
  { client }: SpfCheck,
  { cidr4, cidr6 }: Mechanism,
  addresses: string[],
): boolean {
  const cidr = client.addressType === 'A' ? cidr4 : cidr6
  return addresses.some((found) => isClientWithin(client, found, cidr))
}

/** RFC 7208, 6.2: an explanation that cannot be had is as if there were none. */
async function explain(check: SpfCheck, { result, exp, domain }: Verdict): Promise<string | null> {
  if (result !== 'fail' || exp === null) return null
  const name = await expandTarget(check, exp, domain)
  if (!isQueryable(name)) return null
  const { texts, error } = await check.queries.lookUpTxt(name)
  const [text, ...more] = texts
  if (error || text === undefined || more.length > 0 || !isExplanation(text)) return null
  return expandMacros(text, await macroValues(check, text, domain))
}

async function expandTarget(check: SpfCheck, spec: string, domain: string): Promise<string> {
  return expandDomain(spec, await macroValues(check, spec, domain))
}

/** The values for the macros of a text. The name of the client is looked up only if it is used. */
async function macroValues(check: SpfCheck, text: string, domain: string): Promise<MacroValues> {
  const clientName = /%\{p/i.test(text) ? await nameOfClient(check, domain) : ''
  return macroValuesOf(check.client, domain, clientName)
}

/** RFC 7208, 7.3: the domain itself is preferred, then a name below it, then any. */
async function nameOfClient(check: SpfCheck, domain: string): Promise<string> {
  const valid = await validatedNames(check)
  const own = valid.find((name) => name.toLowerCase() === domain.toLowerCase())
  return own ?? valid.find((name) => isAtOrBelow(name, domain)) ?? valid[0] ?? 'unknown'
}

/** RFC 7208, 4.3: a name of several labels, not an address literal. */
function isDomain(text: string): boolean {
  return isQueryable(text) && text.includes('.') && !text.startsWith('[')
}

function isAtOrBelow(name: string, domain: string): boolean {
  return `.${name.toLowerCase()}`.endsWith(`.${withoutDot(domain).toLowerCase()}`)
}
