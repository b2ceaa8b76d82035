import ipaddr from 'ipaddr.js'
import { reversedLabels, reverseName } from '../../net/address.ts'
import { dataOf, type DnsAnswer, type RecordType } from '../../net/dns.ts'
import { dnsFailureOf, type DnsQueries } from '../dns-queries.ts'
import { LOOKUP_LIMIT, MX_LIMIT, VOID_LOOKUP_LIMIT } from './spf-tree.ts'
import { expandDomain, expandMacros, isQueryable, type MacroValues } from './spf-macros.ts'
import {
  effectiveTerms,
  isExplanation,
  isSpf,
  parseSpf,
  redirectOf,
  type Mechanism,
  type Qualifier,
  type SpfRecord,
} from './spf-record.ts'

/** RFC 7208, 2.6. */
export const SPF_RESULTS = [
  'none',
  'neutral',
  'pass',
  'fail',
  'softfail',
  'temperror',
  'permerror',
] as const
export type SpfResult = (typeof SPF_RESULTS)[number]

/**
 * Who wants to send: the client's address, the argument of MAIL FROM (empty for a bounce) and of
 * HELO.
 */
export type SpfClient = {
  ip: string
  sender: string
  helo: string
  /** The name of the receiver, for `%{r}` in an explanation. */
  receiver?: string
}

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

/** RFC 7208, 4.6.4: of more names of one address, the rest is ignored. */
const PTR_LIMIT = 10

const RESULTS: Record<Qualifier, SpfResult> = {
  '+': 'pass',
  '-': 'fail',
  '~': 'softfail',
  '?': 'neutral',
}

/** Ends the whole evaluation, however deep in includes. */
class Ended extends Error {
  readonly result: SpfResult
  constructor(result: SpfResult, reason: string) {
    super(reason)
    this.result = result
  }
}
const permerror = (reason: string) => new Ended('permerror', reason)

/** The result of one record. `exp` is the domain-spec of its explanation. */
type Verdict = Pick<SpfEvaluation, 'result' | 'matched' | 'reason'> & {
  domain: string
  exp: string | null
}

/**
 * Decides whether an address may send for a domain: `check_host()` of RFC 7208, 4. Never throws.
 */
export async function evaluateSpf(client: SpfClient, queries: DnsQueries): Promise<SpfEvaluation> {
  const evaluation = createEvaluation(client, queries)
  try {
    const verdict = await evaluation.checkSender()
    const explanation = await evaluation.explain(verdict)
    const { result, matched, reason } = verdict
    return { result, matched, reason, explanation, ...evaluation.counts }
  } catch (error) {
    if (!(error instanceof Ended)) throw error
    const { result, message: reason } = error
    return { result, matched: null, reason, explanation: null, ...evaluation.counts }
  }
}

function createEvaluation(
  { ip, sender, helo, receiver = 'unknown' }: SpfClient,
  queries: DnsQueries,
) {
  // RFC 7208, 5: an IPv4 address written as IPv6 counts as the IPv4 address.
  const address = ipaddr.process(ip)
  const addressType = address.kind() === 'ipv4' ? 'A' : 'AAAA'
  // RFC 7208, 2.4 and 4.3: without a sender, or without its local part, it is the postmaster's
  // mail.
  const mailbox = sender === '' ? helo : sender
  const localPart = mailbox.slice(0, Math.max(0, mailbox.lastIndexOf('@'))) || 'postmaster'
  const senderDomain = withoutDot(mailbox.slice(mailbox.lastIndexOf('@') + 1))
  const counts = { lookups: 0, voidLookups: 0 }

  async function checkSender(): Promise<Verdict> {
    if (isDomain(senderDomain)) return check(senderDomain)
    throw new Ended('none', `“${senderDomain}” is not a domain name`)
  }

  async function check(domain: string): Promise<Verdict> {
    const none = (reason: string): Verdict => ({
      result: 'none',
      matched: null,
      reason,
      domain,
      exp: null,
    })
    if (!isQueryable(domain)) return none(`“${domain}” is not a domain name`)
    const { texts, error } = await queries.lookUpTxt(domain)
    if (error === 'BADNAME') return none(`“${domain}” is not a domain name`)
    if (error)
      throw new Ended('temperror', `the TXT records of ${domain} could not be looked up (${error})`)
    const [text, ...more] = texts.filter(isSpf)
    if (text === undefined) return none(`${domain} has no SPF record`)
    if (more.length > 0) throw permerror(`${domain} has ${more.length + 1} SPF records`)
    return evaluate(domain, parseSpf(text))
  }

  async function evaluate(domain: string, record: SpfRecord): Promise<Verdict> {
    const [wrong] = record.errors
    if (wrong)
      throw permerror(
        `the record of ${domain} has an error at character ${wrong.at + 1}: ${wrong.message}`,
      )
    const terms = effectiveTerms(record)
    const exp = terms.find(({ kind, name }) => kind === 'modifier' && name === 'exp')?.value ?? null
    for (const term of terms) {
      if (term.kind !== 'mechanism' || !(await matches(term, domain))) continue
      return {
        result: RESULTS[term.qualifier],
        matched: { domain, term: term.text },
        reason: null,
        domain,
        exp,
      }
    }
    const redirect = redirectOf(record)
    if (redirect !== null) return follow(redirect, domain)
    const reason = `no mechanism in the record of ${domain} matches`
    return { result: 'neutral', matched: null, reason, domain, exp }
  }

  /** RFC 7208, 6.1. */
  async function follow(redirect: string, domain: string): Promise<Verdict> {
    countLookup(`redirect=${redirect}`)
    const verdict = await check(await target(redirect, domain))
    if (verdict.result === 'none') throw permerror(`redirect=${redirect}: ${verdict.reason}`)
    return verdict
  }

  async function matches(term: Mechanism, domain: string): Promise<boolean> {
    const { name, value, cidr4, cidr6 } = term
    if (name === 'all') return true
    if (name === 'ip4' || name === 'ip6')
      return isWithin(value ?? '', name === 'ip4' ? cidr4 : cidr6)
    countLookup(term.text)
    const host = value === null ? domain : await target(value, domain)
    if (name === 'include') return includes(host, term)
    if (name === 'ptr') return namedBelow(host, term)
    const isMatch = (found: string) => isWithin(found, addressType === 'A' ? cidr4 : cidr6)
    if (name === 'mx') return (await exchangeAddresses(host, term)).some(isMatch)
    // RFC 7208, 5.7: `exists` queries A records, for clients of both families.
    if (name === 'exists') return (await lookUp(host, 'A', term)).length > 0
    return (await lookUp(host, addressType, term)).some(isMatch)
  }

  /** RFC 7208, 5.2: only a `pass` of the other record matches. */
  async function includes(host: string, term: Mechanism): Promise<boolean> {
    const { result, reason } = await check(host)
    if (result === 'none') throw permerror(`${term.text}: ${reason}`)
    return result === 'pass'
  }

  async function exchangeAddresses(host: string, term: Mechanism): Promise<string[]> {
    const answer = await ask(host, 'MX', term)
    const exchanges = dataOf(answer, 'MX').map(({ exchange }) => withoutDot(exchange))
    countVoid(exchanges.length === 0 && isVoid(answer), term)
    if (exchanges.length > MX_LIMIT)
      throw permerror(`${host} has more than ${MX_LIMIT} mail servers`)
    const found = await Promise.all(exchanges.map((exchange) => ask(exchange, addressType, term)))
    return found.flatMap((one) => dataOf(one, addressType))
  }

  async function lookUp(host: string, type: 'A' | 'AAAA', term: Mechanism): Promise<string[]> {
    const answer = await ask(host, type, term)
    const addresses = dataOf(answer, type)
    countVoid(addresses.length === 0 && isVoid(answer), term)
    return addresses
  }

  /** An invalid name has no records (RFC 7208, 4.8); any other failure ends the evaluation. */
  async function ask(host: string, type: RecordType, term: Mechanism): Promise<DnsAnswer> {
    if (!isQueryable(host)) return BAD_NAME
    const answer = await queries.query(host, type)
    const failure = dnsFailureOf(answer)
    if (failure === null || failure === 'BADNAME') return answer
    throw new Ended(
      'temperror',
      `${term.text}: ${type} of ${host} could not be looked up (${failure})`,
    )
  }

  /** RFC 7208, 5.5: nothing that fails here is an error, for it is in the client's hands. */
  async function namedBelow(host: string, term: Mechanism): Promise<boolean> {
    const answer = await queries.query(reverseName(address.toString()), 'PTR')
    countVoid(dataOf(answer, 'PTR').length === 0 && isVoid(answer), term)
    return (await validatedNames()).some((own) => isAtOrBelow(own, host))
  }

  let names: Promise<string[]> | null = null

  /** The names of the client's address that lead back to it (RFC 7208, 5.5). */
  function validatedNames(): Promise<string[]> {
    names ??= findNames()
    return names
  }

  async function findNames(): Promise<string[]> {
    const answer = await queries.query(reverseName(address.toString()), 'PTR')
    const candidates = dataOf(answer, 'PTR').map(withoutDot).filter(isQueryable).slice(0, PTR_LIMIT)
    const isValid = async (name: string) =>
      dataOf(await queries.query(name, addressType), addressType).some((found) =>
        isWithin(found, null),
      )
    const valid = await Promise.all(candidates.map(isValid))
    return candidates.filter((_name, index) => valid[index])
  }

  function isWithin(network: string, cidr: number | null): boolean {
    const other = ipaddr.parse(network)
    return (
      other.kind() === address.kind() &&
      address.match(other, cidr ?? (other.kind() === 'ipv4' ? 32 : 128))
    )
  }

  function countLookup(term: string): void {
    counts.lookups += 1
    if (counts.lookups > LOOKUP_LIMIT)
      throw permerror(`\`${term}\` exceeds the limit of ${LOOKUP_LIMIT} DNS lookups`)
  }

  function countVoid(foundNothing: boolean, { text }: Mechanism): void {
    counts.voidLookups += foundNothing ? 1 : 0
    if (counts.voidLookups > VOID_LOOKUP_LIMIT) {
      throw permerror(
        `\`${text}\` is the third lookup that finds nothing; the limit is ${VOID_LOOKUP_LIMIT}`,
      )
    }
  }

  async function target(spec: string, domain: string): Promise<string> {
    return expandDomain(spec, await macroValues(spec, domain))
  }

  async function macroValues(text: string, domain: string): Promise<MacroValues> {
    return {
      s: `${localPart}@${senderDomain}`,
      l: localPart,
      o: senderDomain,
      d: domain,
      i:
        address.kind() === 'ipv4'
          ? address.toString()
          : reversedLabels(address.toString()).split('.').toReversed().join('.'),
      p: /%\{p/i.test(text) ? await nameOfClient(domain) : '',
      v: address.kind() === 'ipv4' ? 'in-addr' : 'ip6',
      h: helo,
      c: address.toString(),
      r: receiver,
      t: String(Math.floor(Date.now() / 1000)),
    }
  }

  /** RFC 7208, 7.3: the domain itself is preferred, then a name below it, then any. */
  async function nameOfClient(domain: string): Promise<string> {
    const valid = await validatedNames()
    const own = valid.find((name) => name.toLowerCase() === domain.toLowerCase())
    return own ?? valid.find((name) => isAtOrBelow(name, domain)) ?? valid[0] ?? 'unknown'
  }

  /** RFC 7208, 6.2: an explanation that cannot be had is as if there were none. */
  async function explain({ result, exp, domain }: Verdict): Promise<string | null> {
    if (result !== 'fail' || exp === null) return null
    const name = await target(exp, domain)
    if (!isQueryable(name)) return null
    const { texts, error } = await queries.lookUpTxt(name)
    const [text, ...more] = texts
    if (error || text === undefined || more.length > 0 || !isExplanation(text)) return null
    return expandMacros(text, await macroValues(text, domain))
  }

  return { checkSender, explain, counts }
}

const BAD_NAME: DnsAnswer = { status: 'FAILED', failure: 'BADNAME', server: null, ms: 0 }

/** RFC 7208, 4.6.4: no such name, or no such records. */
function isVoid(answer: DnsAnswer): boolean {
  return answer.status !== 'FAILED'
}

/** RFC 7208, 4.3: a name of several labels, not an address literal. */
function isDomain(text: string): boolean {
  return isQueryable(text) && text.includes('.') && !text.startsWith('[')
}

function isAtOrBelow(name: string, domain: string): boolean {
  return `.${name.toLowerCase()}`.endsWith(`.${withoutDot(domain).toLowerCase()}`)
}

function withoutDot(name: string): string {
  return name.replace(/\.$/, '')
}
