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
import { nearMissesOf, isReporting, meansMechanism, repairSpf } from './repair-spf.ts'
import { allOf, effectiveTerms, isExplanation, type SpfRecord, type SpfTerm } from './spf-record.ts'
import { permittedSenders, type OpenTerm } from './spf-senders.ts'
import {
  LOOKUP_LIMIT,
  lastRecord,
  MX_LIMIT,
  nodesOf,
  VOID_LOOKUP_LIMIT,
  whyPermerror,
  type SpfNode,
  type SpfTree,
} from './spf-tree.ts'

type About = {
  domain: string
  tree: SpfTree
  /** All TXT records of the domain. */
  texts: string[]
  mailUse: MailUse
  /** False only when everything indicates that the domain sends no mail. */
  sendsMail: boolean
  /** The include of the provider that the MX records show. */
  include: string | null
  /** Whether there is a record of type SPF, which RFC 7208 gave up. */
  hasObsoleteType: boolean
}

/** Lists problems of a domain’s SPF record and its included records, or of its absence. */
export function adviceOnSpf(about: About): Advice[] {
  const advice = listAdvice(about)
  const first = advice.findIndex(({ publish }) => publish?.name === about.domain)
  const note = stringsNote(about.tree.root.texts, advice[first]?.publish?.value)
  if (note === null) return advice
  return advice.map((one, at) =>
    at === first ? { ...one, message: `${one.message} ${note}` } : one,
  )
}

/** RFC 1035, 3.3. */
const MAX_STRING_BYTES = 255

/** How to publish a record that is the first one of the domain to need several strings. */
export function stringsNote(published: string[], value = ''): string | null {
  const isLong = (text: string) => Buffer.byteLength(text) > MAX_STRING_BYTES
  if (!isLong(value) || published.some(isLong)) return null
  return `The proposed record is longer than ${MAX_STRING_BYTES} characters: in a zone file, write it as one record of several quoted strings. Most control panels do this themselves.`
}

function listAdvice(about: About): Advice[] {
  const { domain, tree, texts } = about
  const { root } = tree
  if (root.error)
    return [
      error(
        `The SPF record could not be looked up: the query for ${domain} failed (${root.error}).`,
      ),
    ]
  const misses = nearMissesOf(texts)
  const published = [...root.texts, ...misses]
  if (published.length === 0) return [absenceAdvice(about)]
  const { open } = permittedSenders(tree)
  const { value, unclear } = repairSpf(published, {
    open: open.flatMap(({ term, via }) => (via === null ? [term] : [])),
    dropsExplanation: whyUselessExplanation(root) !== null,
  })
  const isTooMuch = (tree.mergedLookups ?? 0) > LOOKUP_LIMIT
  const publish =
    value === null || isTooMuch || (published.length === 1 && value === published[0])
      ? undefined
      : txtRecord(domain, value)
  const broken = [
    ...misses.map((text) => nearMissAdvice(text, publish)),
    ...(root.texts.length > 1 ? [severalAdvice(domain, tree, publish)] : []),
    ...(root.record && root.texts.length === 1 ? syntaxAdvice(root.record, publish) : []),
  ].map((one, index) =>
    index === 0 ? { ...one, message: one.message + unclearNote(unclear) } : one,
  )
  if (!root.record || root.texts.length > 1) return broken
  return [
    ...broken,
    ...openAdvice(open, publish),
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

/** Explains why a broken record gets no proposal. */
function unclearNote(unclear: string[]): string {
  return unclear.length === 0
    ? ''
    : ` What ${joinItems(unclear, 3)} should mean is not certain, so correct the record by hand.`
}

const advise = (severity: Severity) => (message: string, publish?: Publish) =>
  ({ about: 'spf', severity, message, publish }) satisfies Advice
const error = advise('error')
const warning = advise('warning')
const info = advise('info')

function absenceAdvice({ domain, mailUse, sendsMail, include }: About): Advice {
  if (mailUse.receives === 'nothing' && sendsMail && include === null)
    return error(
      `${domain} has DKIM keys, but no SPF record: receivers cannot tell its servers from spoofers. Publish a record that lists all its servers.`,
    )
  if (mailUse.receives === 'nothing' && !sendsMail) {
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

function severalAdvice(domain: string, tree: SpfTree, publish?: Publish): Advice {
  const { root, mergedLookups } = tree
  const message = `${domain} has ${root.texts.length} SPF records. With more than one, SPF fails with permerror (RFC 7208, 4.5).`
  if (mergedLookups === null || mergedLookups <= LOOKUP_LIMIT)
    return error(`${message} Merge them into one.`, publish)
  return error(
    `${message} One with the terms of all needs ${mergedLookups} DNS lookups, over the limit of ${LOOKUP_LIMIT}, and fails as well. ${FEWER_LOOKUPS} Then merge the records into one.`,
  )
}

const FEWER_LOOKUPS =
  'Remove services that no longer send, or let some send from their own subdomain.'

function nearMissAdvice(text: string, publish?: Publish): Advice {
  return error(
    `The TXT record “${shorten(text)}” is not recognized as SPF: a record must begin with exactly \`v=spf1\` and a space.`,
    publish,
  )
}

function syntaxAdvice({ errors }: SpfRecord, publish?: Publish): Advice[] {
  const [first] = errors
  if (!first) return []
  const where = errors
    .slice(0, 5)
    .map(({ at, text, message }) => `\`${shorten(text)}\` at character ${at + 1}: ${message}`)
  const more = errors.length > 5 ? ` ${errors.length - 5} more follow.` : ''
  const message = `The whole SPF record fails with permerror: ${where.join('; ')}.${more}`
  return [error(message, publish)]
}

/** Says through which terms anyone may send. */
export function openAdvice(open: OpenTerm[], publish?: Publish): Advice[] {
  const wide = open.filter(({ matchesAll }) => !matchesAll)
  const names = [...new Set(wide.map(({ term, via }) => via ?? term))]
  return [
    ...open
      .filter(({ matchesAll }) => matchesAll)
      .map(({ domain, term, via }) =>
        via === null
          ? error(`${shorten(term)} permits every server to send for the domain.`, publish)
          : error(
              `\`${shorten(via)}\` permits every server: the record of ${domain} has ${shorten(term)}.`,
            ),
      ),
    ...(names.length > 0
      ? [
          error(
            `${joinItems(names)} ${names.length === 1 ? 'permits' : 'together permit'} a large part of the Internet.`,
            publish,
          ),
        ]
      : []),
  ]
}

/** What happens to servers that no term permits. */
function allAdvice(root: SpfNode, publish?: Publish): Advice[] {
  const last = lastRecord(root)
  const all = last.record && allOf(last.record)
  if (!last.record || (all && '+-~'.includes(all.qualifier))) return []
  const message = all
    ? '?all is neutral about spoofed mail.'
    : 'The record has no all mechanism, so SPF is neutral about servers that it does not list.'
  const where = last === root ? 'the record' : `the record of ${last.domain}`
  return [
    warning(`${message} End ${where} with ~all or -all.`, last === root ? publish : undefined),
  ]
}

function termAdvice(record: SpfRecord, publish?: Publish): Advice[] {
  const { terms } = record
  const effective = new Set(effectiveTerms(record))
  const idle = terms.filter((term) => !effective.has(term)).map(({ text }) => text)
  const [meantAsMechanism, unknown] = unknownModifiers(record)
  const advice: Advice[] = []
  if (idle.length > 0)
    advice.push(warning(`Terms after all have no effect: ${joinItems(idle)}.`, publish))
  if (terms.some(({ name }) => name === 'ptr')) {
    advice.push(
      warning(
        'ptr is slow, unreliable and discouraged (RFC 7208, 5.5); many receivers skip it. Name the addresses of your servers instead.',
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
    (term) =>
      term.kind === 'modifier' &&
      term.name !== 'redirect' &&
      term.name !== 'exp' &&
      !isReporting(term),
  )
  const isMeant = ({ text }: SpfTerm) => meansMechanism(text)
  return [unknown.filter(isMeant), unknown.filter((term) => !isMeant(term))]
}

/** RFC 7208, 3.4. */
const MAX_RECORD_BYTES = 512

function lengthAdvice({ text }: SpfRecord, publish?: Publish): Advice[] {
  const bytes = Buffer.byteLength(text)
  if (bytes <= MAX_RECORD_BYTES) return []
  const message = `The SPF record has ${bytes} bytes. A record over ${MAX_RECORD_BYTES} bytes may not reach all receivers (RFC 7208, 3.4).`
  if (publish && Buffer.byteLength(publish.value) <= MAX_RECORD_BYTES)
    return [warning(message, publish)]
  return [
    warning(
      `${message} Move some of its terms to a record at another name, and include that record.`,
    ),
  ]
}

function explanationAdvice(root: SpfNode, publish?: Publish): Advice[] {
  const { domain, record, explanation } = root
  if (!explanation || !record) return []
  const { name, texts, error: failure } = explanation
  if (failure) return [lookupFailed('spf', name, failure)]
  const where = `\`exp=${shorten(name)}\``
  if (texts.length === 0) {
    const example = `%{i} may not send mail for ${domain}.`
    return [info(`${name} has no TXT record, so ${where} has no effect.`, txtRecord(name, example))]
  }
  const why = whyUselessExplanation(root)
  return why === null ? [] : [info(`Receivers ignore ${where}: ${why}.`, publish)]
}

/** RFC 7208, 6.2: an explanation that cannot be read is as if there were none. */
function whyUselessExplanation({ explanation }: SpfNode): string | null {
  const [text, ...more] = explanation?.texts ?? []
  if (!explanation || text === undefined) return null
  if (more.length > 0) return `${explanation.name} has ${more.length + 1} TXT records`
  return isExplanation(text) ? null : `the text at ${explanation.name} is invalid`
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
        `The record needs ${count} DNS lookups. The limit is ${LOOKUP_LIMIT}, so it fails with permerror.${most} ${FEWER_LOOKUPS}`,
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
function nodeAdvice(node: SpfNode): Advice[] {
  const { domain, crowded, failed, error: failure, via, voids, record } = node
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
  if (failed.length > 0) {
    const what = joinItems(failed.map((term) => `\`${shorten(term)}\``))
    advice.push(
      warning(
        `The hosts of ${what} could not be looked up. Receivers may get no result (temperror).`,
      ),
    )
  }
  if (record && voids.length > 0) {
    advice.push(
      info(`The SPF record of ${domain} refers to names without records: ${joinItems(voids)}.`),
    )
  }
  return advice
}

function includedAdvice(node: SpfNode): Advice[] {
  const why = whyPermerror(node)
  if (why === null) return []
  return [error(`\`${shorten(String(node.via))}\` makes the record fail with permerror: ${why}.`)]
}
