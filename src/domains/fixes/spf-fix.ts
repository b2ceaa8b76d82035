import type { Advice } from '../../protocols/advice.ts'
import { nearMissesOf } from '../../protocols/spf/repair-spf.ts'
import { stringsNote } from '../../protocols/spf/spf-advice.ts'
import {
  effectiveTerms,
  parseSpf,
  type SpfRecord,
  type SpfTerm,
} from '../../protocols/spf/spf-record.ts'
import type { SpfTree } from '../../protocols/spf/spf-tree.ts'
import { propose, proposeText, type Proposal, type RecordChange } from './proposal.ts'

type About = { domain: string; tree: SpfTree; texts: string[]; advice: Advice[] }

/** The one SPF record to publish at the domain; none when the published one can stay. */
export function spfProposals({ domain, tree: { root }, texts, advice }: About): Proposal[] {
  if (root.error) return []
  const own = advice.filter(({ publish }) => publish?.name === domain)
  const value = own[0]?.publish?.value
  if (value === undefined) return []
  const about = { name: domain, line: 'spf', severity: severityOf(own) } as const
  const misses = nearMissesOf(texts)
  if (!root.record || misses.length > 0) {
    const published = [...root.texts, ...misses]
    const caution =
      published.length > 0
        ? null
        : 'Add every service that sends for the domain before you publish it.'
    const reasons = own.map(({ message }) => message)
    return [proposeText({ ...about, caution }, { published, value, reasons })]
  }
  const records = root.texts.map(parseSpf)
  const changes = changesOf(records, value)
  const cautions = [
    changes.some(({ reason }) => isAboutEveryone(reason))
      ? 'The published record lets your own servers send too: add all of them before you publish this one.'
      : null,
    stringsNote(root.texts, value),
  ]
  const caution = cautions.filter((one) => one !== null).join(' ') || null
  return [propose({ ...about, type: 'TXT', published: root.texts, value, changes, caution })]
}

function severityOf(advice: Advice[]): Proposal['severity'] {
  if (advice.some(({ severity }) => severity === 'error')) return 'bad'
  return advice.some(({ severity }) => severity === 'warning') ? 'warning' : 'suggestion'
}

/** Every term that goes, comes or moves, with its reason. */
function changesOf(records: SpfRecord[], value: string): RecordChange[] {
  const published = records.flatMap(({ text }) => termsOf(text))
  const proposed = termsOf(value)
  const merged =
    records.length > 1
      ? `With ${records.length} SPF records, SPF fails with permerror (RFC 7208, 4.5). They become one.`
      : null
  const removed = difference(published, proposed)
  const moved = idleTerms(records).filter(
    ({ name, text }) => name !== 'all' && !removed.includes(text),
  )
  return [
    ...(merged === null ? [] : [{ removed: null, added: null, reason: merged }]),
    ...removed.map((term) => ({ removed: term, added: null, reason: reasonFor(term, records) })),
    ...difference(proposed, published).map((term) => ({
      removed: null,
      added: term,
      reason: reasonForNew(term),
    })),
    ...moved.map(({ text }) => ({
      removed: null,
      added: null,
      reason: `Behind all, ${text} has no effect. It moves in front of it.`,
    })),
  ]
}

/** Terms without effect, as they stand behind `all` (RFC 7208, 5.1). */
function idleTerms(records: SpfRecord[]): SpfTerm[] {
  const effective = new Set(records.flatMap(effectiveTerms))
  return records.flatMap(({ terms }) => terms.filter((term) => !effective.has(term)))
}

function termsOf(text: string): string[] {
  return text.split(' ').filter((term) => term !== '' && !/^v=spf1$/i.test(term))
}

/** Items of `from` beyond those in `other`; repetitions count. */
function difference(from: string[], other: string[]): string[] {
  const left = [...other]
  return from.filter((item) => {
    const at = left.indexOf(item)
    if (at >= 0) left.splice(at, 1)
    return at < 0
  })
}

function reasonFor(text: string, records: SpfRecord[]): string {
  const error = records.flatMap(({ errors }) => errors).find((one) => one.text === text)
  if (error) return `It makes the whole record fail: ${error.message}.`
  const term = records.flatMap(({ terms }) => terms).find((one) => one.text === text)
  if (term?.name === 'all') return reasonForAll(term.text)
  if (term?.name === 'redirect')
    return records.length > 1
      ? 'In a merged record, include takes its place.'
      : 'Beside all, redirect has no effect (RFC 7208, 6.1). An include takes its place.'
  if (term?.name === 'exp') return 'The explanation that it leads to is invalid.'
  if (term?.kind === 'modifier') return 'Receivers ignore it.'
  return term?.kind === 'mechanism' && (term.cidr4 ?? term.cidr6) === 0
    ? REASON_WIDE
    : 'It is repeated.'
}

const REASON_WIDE = 'It permits a large part of the Internet.'
const REASON_PLUS_ALL = '+all permits every server to send for the domain.'

/** Whether a term goes that permitted the domain’s own servers among all others. */
function isAboutEveryone(reason: string): boolean {
  return reason === REASON_WIDE || reason === REASON_PLUS_ALL
}

function reasonForAll(text: string): string {
  if (/^\+?all$/i.test(text)) return REASON_PLUS_ALL
  if (text.startsWith('?')) return '?all is neutral about spoofed mail.'
  return 'A record ends with one all: the first, and of several records the least strict.'
}

function reasonForNew(term: string): string {
  if (/^[-~]all$/.test(term))
    return 'The end of the record tells receivers how to treat other servers.'
  if (/^include:/i.test(term)) return 'It takes the place of a redirect or of a misspelled term.'
  return 'The term in its correct spelling.'
}
