import { dataOf, type DnsFailure, type RecordType } from '../../net/dns.ts'
import type { DnsQueries, TxtLookup } from '../dns-queries.ts'
import { repairSpf } from './repair-spf.ts'
import { expandDomain } from './spf-macros.ts'
import {
  effectiveTerms,
  isSpf,
  parseSpf,
  type Mechanism,
  type MechanismName,
  type SpfRecord,
  type SpfTerm,
} from './spf-record.ts'

/** RFC 7208, 4.6.4. */
export const LOOKUP_LIMIT = 10
export const VOID_LOOKUP_LIMIT = 2
export const MX_LIMIT = 10

/** Questions for one tree; honest records need a tenth of it. */
const MAX_QUERIES = 80
/** A record at a deeper level is beyond the limit of lookups anyway. */
const MAX_DEPTH = 11

/** A record in the tree of includes and redirects. */
export type SpfNode = {
  domain: string
  /** The term that led here; null at the root. */
  via: string | null
  record: SpfRecord | null
  /** Every SPF record at the name: only one may be there. */
  texts: string[]
  /**
   * Why there is no usable record: `missing`, `several`, a `loop`, a `macro` in the name that
   * depends on the mail, `untried` for lack of time.
   */
  problem: 'missing' | 'several' | 'loop' | 'macro' | 'untried' | null
  error: DnsFailure | null
  /** Lookups of this record’s terms and of all records below it. */
  lookups: number
  /** Names that were looked up for its terms and gave nothing. */
  voids: string[]
  /** Terms whose hosts could not be looked up. */
  failed: string[]
  /** Names with more mail servers than an `mx` may lead to. */
  crowded: string[]
  /**
   * What was found for `a`, `mx` and `exists`; null when that failed or was not tried. Terms whose
   * names depend on the mail are left out.
   */
  addresses: Map<Mechanism, string[] | null>
  /** Where `exp` leads, when that is known without a mail; null when there is none. */
  explanation: (TxtLookup & { name: string }) | null
  children: SpfNode[]
}

export type SpfTree = {
  root: SpfNode
  /** DNS lookups that a receiver needs at most; 10 are allowed. */
  lookups: number
  /** Of these, the ones that find nothing (of either address family); 2 are allowed. */
  voidLookups: number
  /** Whether some records were left out: too many, too deep, or no time. */
  truncated: boolean
  /** Of several records at the domain, the lookups that one with the terms of all needs. */
  mergedLookups: number | null
}

/**
 * Follows a domain’s SPF record through includes and redirects, and counts the lookups of a
 * receiver.
 */
export async function walkSpf(domain: string, queries: DnsQueries): Promise<SpfTree> {
  let left = MAX_QUERIES
  const mayAsk = () => left-- > 0 && !queries.signal.aborted

  async function expand(name: string, via: string | null, path: string[]): Promise<SpfNode> {
    const node = emptyNode(name, via)
    if (path.includes(name)) return { ...node, problem: 'loop' }
    const isBelow = path.length > 0
    if (isBelow && (path.length >= MAX_DEPTH || !mayAsk())) return { ...node, problem: 'untried' }
    const { texts, error } = await queries.lookUpTxt(name)
    node.texts = texts.filter(isSpf)
    const [text] = node.texts
    if (error || text === undefined) {
      // RFC 7208, 4.6.4: a name without any TXT record is a void lookup; one with unrelated TXT
      // records is not.
      if (!error && texts.length === 0) node.voids.push(name)
      return { ...node, error, problem: error ? null : 'missing' }
    }
    node.record = parseSpf(text)
    if (node.texts.length > 1) return { ...node, problem: 'several' }
    return follow(node, node.record, [...path, name])
  }

  async function follow(node: SpfNode, record: SpfRecord, path: string[]): Promise<SpfNode> {
    const terms = effectiveTerms(record).filter(isLookup)
    const [children, explanation] = await Promise.all([
      Promise.all(terms.filter(leadsToRecord).map((term) => lead(term, node.domain, path))),
      path.length === 1 ? explain(record) : null,
      Promise.all(
        terms.filter((term) => term.kind === 'mechanism').map((term) => probe(term, node)),
      ),
    ])
    return {
      ...node,
      children,
      explanation,
      lookups: terms.length + sum(children.map((child) => child.lookups)),
    }
  }

  function lead({ text, value }: SpfTerm, owner: string, path: string[]): Promise<SpfNode> {
    const name = knownName(value ?? '', owner, domain)
    if (name !== null) return expand(name, text, path)
    return Promise.resolve({ ...emptyNode(nameKey(value ?? ''), text), problem: 'macro' })
  }

  /** The target of `exp`. RFC 7208, 4.6.4: it does not count as a lookup. */
  async function explain(record: SpfRecord): Promise<SpfNode['explanation']> {
    const exp = effectiveTerms(record).find(
      ({ kind, name }) => kind === 'modifier' && name === 'exp',
    )
    const name = exp && knownName(exp.value ?? '', domain, domain)
    if (!name || !mayAsk()) return null
    return { name, ...(await queries.lookUpTxt(name)) }
  }

  /**
   * Looks up the hosts of a mechanism. The lookups of `ptr`, and of a name that depends on the
   * mail, are not known beforehand.
   */
  async function probe(term: Mechanism, node: SpfNode): Promise<void> {
    const types = PROBED[term.name]
    const host = knownName(term.value ?? node.domain, node.domain, domain)
    if (!types || host === null) return
    node.addresses.set(term, null)
    if (!mayAsk()) return
    const answers = await Promise.all(types.map((type) => queries.query(host, type)))
    const isKnown = answers.every(({ status }) => status !== 'FAILED')
    const found = answers.flatMap((answer) => [...dataOf(answer, 'A'), ...dataOf(answer, 'AAAA')])
    const exchanges = answers.flatMap((answer) => dataOf(answer, 'MX')).map(exchangeOf)
    if (isKnown && found.length + exchanges.length === 0) node.voids.push(host)
    if (exchanges.length > MX_LIMIT) node.crowded.push(host)
    const below = await Promise.all(exchanges.slice(0, MX_LIMIT).map(addressesOf))
    if (!isKnown || below.includes(null)) node.failed.push(term.text)
    else node.addresses.set(term, [...found, ...below.flatMap((one) => one ?? [])])
  }

  async function addressesOf(host: string): Promise<string[] | null> {
    // The null MX (RFC 7505).
    if (host === '') return []
    if (!mayAsk()) return null
    const answers = await Promise.all([queries.query(host, 'A'), queries.query(host, 'AAAA')])
    if (answers.some(({ status }) => status === 'FAILED')) return null
    return answers.flatMap((answer) => [...dataOf(answer, 'A'), ...dataOf(answer, 'AAAA')])
  }

  async function countMerged(texts: string[]): Promise<number | null> {
    const { value } = repairSpf(texts)
    if (texts.length < 2 || value === null) return null
    return (await follow(emptyNode(domain, null), parseSpf(value), [domain])).lookups
  }

  const root = await expand(domain, null, [])
  const below = nodesOf(root).slice(1)
  return {
    root,
    lookups: root.lookups,
    voidLookups:
      sum(below.map((node) => node.voids.length)) + (root.record ? root.voids.length : 0),
    truncated: below.some((node) => node.problem === 'untried'),
    mergedLookups: await countMerged(root.texts),
  }
}

function emptyNode(domain: string, via: string | null): SpfNode {
  return {
    domain,
    via,
    record: null,
    texts: [],
    problem: null,
    error: null,
    lookups: 0,
    voids: [],
    failed: [],
    crowded: [],
    addresses: new Map(),
    explanation: null,
    children: [],
  }
}

/** RFC 7208, 5.7: `exists` asks for A records alone. */
const PROBED: Partial<Record<MechanismName, RecordType[]>> = {
  a: ['A', 'AAAA'],
  mx: ['MX'],
  exists: ['A'],
}

/** RFC 7208, 4.6.4: the terms that count as a lookup. */
function isLookup(term: SpfTerm): boolean {
  return term.kind === 'modifier'
    ? term.name === 'redirect'
    : ['include', 'a', 'mx', 'ptr', 'exists'].includes(term.name)
}

/** The terms that `children` of a node stand for, in the same order. */
export function leadsToRecord(term: SpfTerm): boolean {
  return term.name === 'include' || term.name === 'redirect'
}

function nameKey(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}

function exchangeOf({ exchange }: { exchange: string }): string {
  return nameKey(exchange)
}

/**
 * The name that a term leads to, as far as it is the same for all mail from the domain itself: of
 * the macros, `%{d}` and `%{o}` are (RFC 7208, 7.2). Null when it depends on the mail.
 * @param owner the domain of the record
 * @param sender the domain of the sender
 */
function knownName(spec: string, owner: string, sender: string): string | null {
  if (/%\{[^do]/i.test(spec)) return null
  return nameKey(expandDomain(spec, { ...UNUSED_MACROS, d: owner, o: sender }))
}

const UNUSED_MACROS = { s: '', l: '', i: '', p: '', v: '', h: '', c: '', r: '', t: '' }

function sum(numbers: number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** All records of a tree, each before those it includes, in the order of the terms. */
export function nodesOf(node: SpfNode, depth = 0): (SpfNode & { depth: number })[] {
  return [{ ...node, depth }, ...node.children.flatMap((child) => nodesOf(child, depth + 1))]
}

/** The node whose record ends the evaluation: the root, or where its redirects lead. */
export function lastRecord(node: SpfNode): SpfNode {
  const redirected = node.children.find((child) => child.via?.toLowerCase().startsWith('redirect='))
  return redirected ? lastRecord(redirected) : node
}

/** Why a record, or its absence, ends every evaluation with permerror; null when it does not. */
export function whyPermerror({ domain, problem, record, texts }: SpfNode): string | null {
  if (problem === 'missing') return `${domain} has no SPF record`
  if (problem === 'several') return `${domain} has ${texts.length} SPF records`
  if (problem === 'loop') return 'it includes itself through another record'
  const [first] = record?.errors ?? []
  if (first)
    return `the record of ${domain} has an error at character ${first.at + 1}: ${first.message}`
  return null
}

/** Whether receivers cannot use the record: the result is permerror, at least for most senders. */
export function isBroken({ root, lookups, voidLookups }: SpfTree): boolean {
  return (
    lookups > LOOKUP_LIMIT ||
    voidLookups > VOID_LOOKUP_LIMIT ||
    nodesOf(root).some((node) => whyPermerror(node) !== null || node.crowded.length > 0)
  )
}
