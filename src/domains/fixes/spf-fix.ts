import type { Advice } from '../../protocols/advice.ts'
import { repairSpf } from '../../protocols/spf/spf-advice.ts'
import {
  effectiveTerms,
  parseSpf,
  redirectOf,
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
  const [wanted] = own
  if (!wanted?.publish) return []
  const severity = severityOf(own)
  if (!root.record) {
    const published = texts.filter((text) => /^\W*v\s*=\s*spf/i.test(text.slice(0, 40)))
    const caution =
      published.length > 0
        ? null
        : 'Add every service that sends for the domain before you publish it.'
    return [
      proposeText(
        { name: domain, line: 'spf', severity, caution },
        { published, value: wanted.publish.value, reasons: own.map(({ message }) => message) },
      ),
    ]
  }
  const records = root.texts.map(parseSpf)
  const dropsExplanation = own.some(({ message }) => message.includes('exp='))
  const value = finalRecord(records, dropsExplanation)
  const changes = changesOf(records, value, dropsExplanation)
  if (changes.length === 0) return []
  return [
    propose({
      name: domain,
      type: 'TXT',
      line: 'spf',
      severity,
      published: root.texts,
      value,
      changes,
      caution: null,
    }),
  ]
}

function severityOf(advice: Advice[]): Proposal['severity'] {
  if (advice.some(({ severity }) => severity === 'error')) return 'bad'
  return advice.some(({ severity }) => severity === 'warning') ? 'warning' : 'suggestion'
}

function finalRecord(records: SpfRecord[], dropsExplanation: boolean): string {
  const repaired = repairSpf(records)
  const value = dropsExplanation ? repaired.replace(/ exp=[^ ]*/i, '') : repaired
  if (records.length === 1) return value
  // A redirect ends a record; in a merged one the same senders are included.
  const redirects = records.flatMap((record) => redirectOf(record) ?? [])
  const parts = value.split(' ')
  const end = parts.findIndex((part) => /^[-~]all$/.test(part))
  const included = redirects.map((target) => `include:${target}`)
  return [...new Set([...parts.slice(0, end), ...included, ...parts.slice(end)])].join(' ')
}

/** Every term that goes or comes, with its reason. */
function changesOf(records: SpfRecord[], value: string, dropsExplanation: boolean): RecordChange[] {
  const published = records.flatMap(({ text }) => termsOf(text))
  const proposed = termsOf(value)
  const removed = difference(published, proposed)
  const added = difference(proposed, published)
  const changes = removed.map((term) => ({
    removed: term,
    added: null,
    reason: reasonFor(term, records, dropsExplanation),
  }))
  const news = added.map((term) => ({ removed: null, added: term, reason: reasonForNew(term) }))
  const merged =
    records.length > 1
      ? [
          {
            removed: null,
            added: null,
            reason: `With ${records.length} SPF records, SPF fails with permerror (RFC 7208, 4.5). They become one.`,
          },
        ]
      : []
  return [...merged, ...changes, ...news]
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

function reasonFor(text: string, records: SpfRecord[], dropsExplanation: boolean): string {
  const error = records.flatMap(({ errors }) => errors).find((one) => one.text === text)
  if (error) return `It makes the whole record fail: ${error.message}.`
  const terms = records.flatMap((record) => record.terms)
  const term = terms.find((one) => one.text === text)
  const effective = new Set(records.flatMap(effectiveTerms))
  if (term && !effective.has(term)) return 'A term after all has no effect.'
  return term ? reasonForTerm(term, records.length, dropsExplanation) : 'It is repeated.'
}

function reasonForTerm(term: SpfTerm, count: number, dropsExplanation: boolean): string {
  if (term.name === 'all') return reasonForAll(term.text, count)
  if (term.name === 'ptr')
    return 'ptr is slow and unreliable; many receivers skip it (RFC 7208, 5.5).'
  if (term.name === 'ip4' || term.name === 'ip6')
    return isShort(term) ? 'It permits a large part of the Internet.' : 'It is repeated.'
  if (term.name === 'redirect') return 'In a merged record, include takes its place.'
  if (term.name === 'exp' && dropsExplanation) return 'The explanation that it leads to is invalid.'
  if (term.kind === 'modifier') return 'Receivers ignore it.'
  return 'It is repeated.'
}

function isShort(term: SpfTerm): boolean {
  if (term.kind === 'modifier') return false
  return (term.cidr4 ?? 32) < 8 || (term.name === 'ip6' && (term.cidr6 ?? 128) < 16)
}

function reasonForAll(text: string, count: number): string {
  if (/^\+?all$/i.test(text)) return '+all permits every server to send for the domain.'
  if (text.startsWith('?')) return '?all is neutral about spoofed mail.'
  return count > 1 ? 'A record ends with one all; the strictest one stays.' : 'It is repeated.'
}

function reasonForNew(term: string): string {
  if (/^[-~]all$/.test(term))
    return 'The end of the record tells receivers how to treat other servers.'
  if (/^include:/i.test(term)) return 'It takes the place of a redirect or of a misspelled term.'
  return 'The term in its correct spelling.'
}
