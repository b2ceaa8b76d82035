import {
  joinItems,
  lookupFailed,
  shorten,
  txtRecord,
  type Advice,
  type Publish,
  type Severity,
} from '../advice.ts'
import type { MailUse } from '../mail/mail-use.ts'
import {
  LOOKUP_LIMIT,
  lastRecord,
  MX_LIMIT,
  nodesOf,
  VOID_LOOKUP_LIMIT,
  type SpfNode,
  type SpfTree,
} from './spf-tree.ts'
import {
  allOf,
  effectiveTerms,
  isExplanation,
  isSpf,
  parseSpf,
  redirectOf,
  type Mechanism,
  type SpfRecord,
  type SpfTerm,
} from './spf-record.ts'

type About = {
  domain: string
  tree: SpfTree
  /** All TXT records of the domain. */
  texts: string[]
  mailUse: MailUse
  /** The include of the provider that the MX records show. */
  include: string | null
  /** Whether there is a record of type SPF, which RFC 7208 gave up. */
  hasObsoleteType: boolean
}

/** Lists problems of a domain’s SPF record and its included records, or of its absence. */
export function adviceOnSpf(about: About): Advice[] {
  const { domain, tree } = about
  const { root } = tree
  if (root.error)
    return [
      error(
        `The SPF record could not be looked up: the query for ${domain} failed (${root.error}).`,
      ),
    ]
  const misses = about.texts
    .filter((text) => looksLikeSpf(text))
    .map((text) => nearMissAdvice(domain, text))
  if (!root.record) return misses.length > 0 ? misses : [absenceAdvice(about)]
  const publish = txtRecord(domain, repairSpf(root.texts.map(parseSpf)))
  if (root.texts.length > 1) return [...misses, severalAdvice(domain, root.texts.length, publish)]
  return [
    ...misses,
    ...syntaxAdvice(root.record, publish),
    ...allAdvice(root, publish),
    ...termAdvice(root.record, publish),
    ...limitAdvice(tree),
    ...lengthAdvice(root.record, publish),
    ...explanationAdvice(root, publish),
    ...nodesOf(root).flatMap(nodeAdvice),
    ...nodesOf(root).slice(1).flatMap(includedAdvice),
    ...(about.hasObsoleteType
      ? [
          info(
            `${domain} also has a record of the obsolete type SPF (99), which receivers ignore. Remove it.`,
          ),
        ]
      : []),
  ]
}

const advise = (severity: Severity) => (message: string, publish?: Publish) =>
  ({ about: 'spf', severity, message, publish }) satisfies Advice
const error = advise('error')
const warning = advise('warning')
const info = advise('info')

function absenceAdvice({ domain, mailUse, include }: About): Advice {
  if (mailUse.receives === 'nothing') {
    const message = `${domain} does not use mail. Publish a record that permits no sender.`
    return error(`The domain has no SPF record. ${message}`, txtRecord(domain, 'v=spf1 -all'))
  }
  if (mailUse.receives === 'address') {
    const message = `${domain} has no SPF record. If it sends no mail, publish this record. Otherwise, list its servers instead.`
    return warning(message, txtRecord(domain, 'v=spf1 -all'))
  }
  const sources = include ? `include:${include}` : 'mx'
  const message = `${domain} has no SPF record, so receivers cannot tell its servers from spoofers. Start with this record and add every service that sends for the domain.`
  return error(message, txtRecord(domain, `v=spf1 ${sources} ~all`))
}

function severalAdvice(domain: string, count: number, publish: Publish): Advice {
  return error(
    `${domain} has ${count} SPF records. With more than one, SPF fails with permerror (RFC 7208, 4.5). Merge them into one.`,
    publish,
  )
}

/** RFC 7208, 4.5 ignores these: they only look like SPF records. */
function looksLikeSpf(text: string): boolean {
  return !isSpf(text) && /^\W*v\s*=\s*spf/i.test(text.slice(0, 40))
}

function nearMissAdvice(domain: string, text: string): Advice {
  const bare = text.replaceAll(/["'“”„]/g, '').replace(/^\W*v\s*=\s*spf\d*\W*/i, '')
  const message = `The TXT record “${shorten(text)}” is not recognized as SPF: a record must begin with exactly \`v=spf1\` and a space.`
  return error(message, txtRecord(domain, repairSpf([parseSpf(`v=spf1 ${bare}`)])))
}

function syntaxAdvice({ errors }: SpfRecord, publish: Publish): Advice[] {
  const [first] = errors
  if (!first) return []
  const where = errors
    .slice(0, 5)
    .map(({ at, text, message }) => `\`${shorten(text)}\` at character ${at + 1}: ${message}`)
  const more = errors.length > 5 ? ` ${errors.length - 5} more follow.` : ''
  const message = `The whole SPF record fails with permerror: ${where.join('; ')}.${more}`
  return [error(message, publish)]
}

function allAdvice(root: SpfNode, publish: Publish): Advice[] {
  const last = lastRecord(root)
  const all = last.record && allOf(last.record)
  if (!last.record) return []
  if (!all) {
    const message =
      'The record has no all mechanism, so SPF is neutral about servers that it does not list. End it with ~all or -all.'
    return [warning(message, publish)]
  }
  if (all.qualifier === '+')
    return [error('+all permits every server to send for the domain.', publish)]
  return all.qualifier === '?'
    ? [warning('?all is neutral about spoofed mail. End the record with ~all or -all.', publish)]
    : []
}

function termAdvice(record: SpfRecord, publish: Publish): Advice[] {
  const { terms } = record
  const effective = new Set(effectiveTerms(record))
  const idle = terms.filter((term) => !effective.has(term)).map(({ text }) => text)
  const wide = terms.filter(isWide).map(({ text }) => text)
  const [meantAsMechanism, unknown] = unknownModifiers(record)
  const advice: Advice[] = []
  if (idle.length > 0)
    advice.push(warning(`Terms after all have no effect: ${joinItems(idle)}.`, publish))
  if (wide.length > 0)
    advice.push(error(`${joinItems(wide)} permits a large part of the Internet.`, publish))
  if (terms.some(({ name }) => name === 'ptr')) {
    advice.push(
      warning(
        'ptr is slow, unreliable and discouraged (RFC 7208, 5.5); many receivers skip it.',
        publish,
      ),
    )
  }
  if (meantAsMechanism.length > 0) {
    const what = joinItems(meantAsMechanism.map(({ text }) => text))
    advice.push(
      warning(
        `Receivers ignore ${what}. Write a colon after the name of a mechanism, not “=”.`,
        publish,
      ),
    )
  }
  if (unknown.length > 0) {
    advice.push(
      info(
        `Receivers ignore unknown terms: ${joinItems(unknown.map(({ text }) => text))}.`,
        publish,
      ),
    )
  }
  return advice
}

/** Unknown modifiers: first those that would be mechanisms with a colon, then the others. */
function unknownModifiers({ terms }: SpfRecord): [SpfTerm[], SpfTerm[]] {
  const unknown = terms.filter(
    ({ kind, name }) => kind === 'modifier' && name !== 'redirect' && name !== 'exp',
  )
  const isMeant = (term: SpfTerm) => meant(term.text).some(({ kind }) => kind === 'mechanism')
  return [unknown.filter(isMeant), unknown.filter((term) => !isMeant(term))]
}

/** RFC 7208, 3.4. */
const MAX_RECORD_BYTES = 512

function lengthAdvice({ text }: SpfRecord, publish: Publish): Advice[] {
  const bytes = Buffer.byteLength(text)
  if (bytes <= MAX_RECORD_BYTES) return []
  const message = `The SPF record has ${bytes} bytes. A record over ${MAX_RECORD_BYTES} bytes may not reach all receivers (RFC 7208, 3.4).`
  if (Buffer.byteLength(publish.value) <= MAX_RECORD_BYTES) return [warning(message, publish)]
  return [
    warning(
      `${message} Move some of its terms to a record at another name, and include that record.`,
    ),
  ]
}

/** RFC 7208, 6.2: an explanation that cannot be read is as if there were none. */
function explanationAdvice({ domain, record, explanation }: SpfNode, publish: Publish): Advice[] {
  if (!explanation || !record) return []
  const { name, texts, error: failure } = explanation
  if (failure) return [lookupFailed('spf', name, failure)]
  const [text, ...more] = texts
  const where = `\`exp=${shorten(name)}\``
  if (text === undefined) {
    const example = `%{i} may not send mail for ${domain}.`
    return [info(`${name} has no TXT record, so ${where} has no effect.`, txtRecord(name, example))]
  }
  const why =
    more.length > 0 ? `${name} has ${texts.length} TXT records` : `the text at ${name} is invalid`
  if (more.length === 0 && isExplanation(text)) return []
  return [
    info(`Receivers ignore ${where}: ${why}.`, txtRecord(publish.name, withoutExp(publish.value))),
  ]
}

function withoutExp(text: string): string {
  return text.replace(/ exp=[^ ]*/i, '')
}

function isWide(term: SpfTerm): boolean {
  if (term.kind === 'modifier' || term.qualifier === '-') return false
  return (
    (term.name === 'ip4' && (term.cidr4 ?? 32) < 8) ||
    (term.name === 'ip6' && (term.cidr6 ?? 128) < 16)
  )
}

function limitAdvice({ lookups, voidLookups, truncated, root }: SpfTree): Advice[] {
  const advice: Advice[] = []
  const count = truncated ? `at least ${lookups}` : lookups
  if (lookups > LOOKUP_LIMIT) {
    const costly = root.children.toSorted((one, other) => other.lookups - one.lookups).slice(0, 3)
    const where = costly.map((child) => `${child.via} (${child.lookups + 1})`)
    const most = where.length > 0 ? ` Most come from ${joinItems(where)}.` : ''
    advice.push(
      error(
        `The record needs ${count} DNS lookups. The limit is ${LOOKUP_LIMIT}, so it fails with permerror.${most} Remove services that no longer send, or let some send from their own subdomain.`,
      ),
    )
  } else if (lookups >= LOOKUP_LIMIT - 1) {
    advice.push(
      info(
        `The record needs ${count} of ${LOOKUP_LIMIT} allowed DNS lookups. Adding services may exceed the limit.`,
      ),
    )
  }
  if (voidLookups > VOID_LOOKUP_LIMIT) {
    const names = nodesOf(root).flatMap((node) => node.voids)
    const message = `${voidLookups} lookups find nothing, and receivers may stop after ${VOID_LOOKUP_LIMIT} (RFC 7208, 4.6.4): ${joinItems(names)}.`
    advice.push(error(`${message} Remove these.`))
  }
  return advice
}

/** Advice for the domain’s own record and for included ones. */
function nodeAdvice({ domain, crowded, error: failure, via, voids, record }: SpfNode): Advice[] {
  const advice = crowded.map((host) =>
    error(
      `${host} has more than ${MX_LIMIT} mail servers, the limit for an mx mechanism (RFC 7208, 4.6.4).`,
    ),
  )
  if (failure)
    advice.push(
      warning(
        `\`${shorten(String(via))}\` could not be looked up (${failure}), so the lookup counts may be too low.`,
      ),
    )
  if (record && voids.length > 0) {
    advice.push(
      info(`The SPF record of ${domain} refers to names without records: ${joinItems(voids)}.`),
    )
  }
  return advice
}

function includedAdvice({ domain, via, problem, record, texts }: SpfNode): Advice[] {
  const term = `\`${shorten(String(via))}\``
  const broken = (why: string) => [error(`${term} makes the record fail with permerror: ${why}.`)]
  if (problem === 'missing') return broken(`${domain} has no SPF record`)
  if (problem === 'several') return broken(`${domain} has ${texts.length} SPF records`)
  if (problem === 'loop') return broken('it includes itself through another record')
  const [first] = record?.errors ?? []
  if (first)
    return broken(
      `the record of ${domain} has an error at character ${first.at + 1}: ${first.message}`,
    )
  const permitsAll = record && allOf(record)?.qualifier === '+'
  return permitsAll && isInclude(via)
    ? [error(`${term} permits every server: the record of ${domain} ends in +all.`)]
    : []
}

function isInclude(via: string | null): boolean {
  return via !== null && /^[-+~?]?include:/i.test(via)
}

/**
 * Writes one record with the meaning of all of these, without invalid, ineffective or discouraged
 * terms.
 */
export function repairSpf(records: SpfRecord[]): string {
  const terms = records.flatMap(effectiveTerms)
  const ignored = records.flatMap((record) => unknownModifiers(record)[0])
  const repaired = [...records.flatMap(({ errors }) => errors), ...ignored].flatMap(({ text }) =>
    meant(text),
  )
  const good = [...terms, ...repaired].filter(
    (term) => !['all', 'ptr'].includes(term.name) && !isWide(term),
  )
  const mechanisms = good.filter(({ kind }) => kind === 'mechanism').map(({ text }) => text)
  const explanation = good.find(({ name }) => name === 'exp')?.text
  const [redirect] = records.length === 1 ? records.map(redirectOf) : []
  const end = redirect ? `redirect=${redirect}` : `${strictest(records.map(allOf))}all`
  return ['v=spf1', ...new Set(mechanisms), end, ...(explanation ? [explanation] : [])].join(' ')
}

/** Reads `ip:192.0.2.1` and similar terms as intended. */
function meant(text: string): SpfTerm[] {
  const guess = text
    .replace(/^([-+~?]?)ip(?:v4)?[:=](?=[\d.]+(?:\/\d+)?$)/i, '$1ip4:')
    .replace(/^([-+~?]?)ip(?:v6|4)?[:=](?=[\da-f]*:[\da-f:.]*(?:\/\d+)?$)/i, '$1ip6:')
    .replace(/^([-+~?]?)(?:includes?)[:=]/i, '$1include:')
    .replace(/^([-+~?]?)(a|mx|exists|ip4|ip6)=/i, '$1$2:')
  const read = parseSpf(`v=spf1 ${guess}`)
  return read.errors.length === 0 ? read.terms : []
}

/** Chooses the strictest of several `all` terms: `-all` if any record has it, otherwise `~all`. */
function strictest(alls: (Mechanism | null)[]): '-' | '~' {
  return alls.some((all) => all?.qualifier === '-') ? '-' : '~'
}
