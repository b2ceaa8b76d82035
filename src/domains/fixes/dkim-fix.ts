import type { DkimKey } from '../../protocols/dkim/dkim-key.ts'
import type { DkimProbe, SelectorFinding } from '../../protocols/dkim/probe-selectors.ts'
import { listItems, trimWsp } from '../../protocols/tag-list.ts'
import { propose, type Proposal, type RecordChange } from './proposal.ts'

/** The key records to publish in place of the ones that do not work as they are written. */
export function dkimProposals(domain: string, { findings }: DkimProbe): Proposal[] {
  return findings
    .filter(({ key, fromWildcard, texts }) => key && !fromWildcard && texts.length === 1)
    .flatMap((finding) => proposalFor(domain, finding, finding.key as DkimKey))
}

function proposalFor(
  domain: string,
  { selector, strays }: SelectorFinding,
  key: DkimKey,
): Proposal[] {
  // Errors beyond spelling need a new key.
  if (key.errors.length > 0 && key.mended === null) return []
  const isMended = key.mended !== null
  const mended = key.mended ?? key.text
  const value = key.testing ? withoutTesting(mended) : mended
  if (value === key.text && strays.length === 0) return []
  return [
    propose({
      name: `${selector}._domainkey.${domain}`,
      type: 'TXT',
      line: 'dkim',
      severity: isMended || strays.length > 0 ? 'bad' : 'warning',
      published: [key.text, ...strays],
      value,
      changes: [...strays.map(strayChange), ...changesOf(key)],
    }),
  ]
}

function strayChange(text: string): RecordChange {
  const reason = 'Receivers may take it for the key (RFC 6376, 3.6.2.2).'
  return { removed: text, added: null, reason }
}

function changesOf(key: DkimKey): RecordChange[] {
  const flags = key.tags.find(({ name }) => name === 't')?.value ?? 'y'
  const rest = withoutFlag(flags)
  const testing = {
    removed: `t=${flags}`,
    added: rest === '' ? null : `t=${rest}`,
    reason: 'In test mode (t=y), receivers may treat the mail as unsigned.',
  }
  return [
    ...key.errors.map((problem) => ({
      removed: null,
      added: null,
      reason: `Receivers reject the key: ${problem}.`,
    })),
    ...(key.testing ? [testing] : []),
  ]
}

function withoutTesting(text: string): string {
  const parts = text.split(';').map(trimWsp)
  const kept = parts.flatMap((part) => {
    const [, flags] = /^t[ \t]*=(.*)$/.exec(part) ?? []
    if (flags === undefined) return part === '' ? [] : [part]
    const rest = withoutFlag(flags)
    return rest === '' ? [] : [`t=${rest}`]
  })
  return kept.join('; ')
}

function withoutFlag(flags: string): string {
  const kept = listItems(flags, ':').filter((flag) => flag.toLowerCase() !== 'y')
  return kept.join(':')
}
