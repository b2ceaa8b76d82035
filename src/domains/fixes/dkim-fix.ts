import { repairDkimKey, type DkimKey } from '../../protocols/dkim/dkim-key.ts'
import type { DkimProbe, SelectorFinding } from '../../protocols/dkim/probe-selectors.ts'
import { propose, type Proposal, type RecordChange } from './proposal.ts'

/** The key records to publish in place of the ones that do not work as they are written. */
export function dkimProposals(domain: string, { findings }: DkimProbe): Proposal[] {
  return findings
    .filter(({ key, fromWildcard, texts }) => key && !fromWildcard && texts.length === 1)
    .flatMap((finding) => proposalFor(domain, finding, finding.key as DkimKey))
}

function proposalFor(domain: string, { selector }: SelectorFinding, key: DkimKey): Proposal[] {
  // Errors beyond spelling need a new key.
  const isMendable = key.errors.length > 0 && key.errors.length === key.faults.length
  if (key.errors.length > 0 && !isMendable) return []
  const mended = isMendable ? repairDkimKey(key) : key.text
  const value = key.testing ? withoutTesting(mended) : mended
  if (value === key.text) return []
  return [
    propose({
      name: `${selector}._domainkey.${domain}`,
      type: 'TXT',
      line: 'dkim',
      severity: isMendable ? 'bad' : 'warning',
      published: [key.text],
      value,
      changes: changesOf(key, isMendable),
    }),
  ]
}

function changesOf(key: DkimKey, isMendable: boolean): RecordChange[] {
  const faults = isMendable ? key.faults : []
  const flags = key.tags.find(({ name }) => name === 't')?.value ?? 'y'
  const rest = withoutFlag(flags)
  const testing = {
    removed: `t=${flags}`,
    added: rest === '' ? null : `t=${rest}`,
    reason: 'In test mode (t=y), receivers may treat the mail as unsigned.',
  }
  return [
    ...faults.map((fault) => ({
      removed: null,
      added: null,
      reason: `Receivers reject the key: ${fault}.`,
    })),
    ...(key.testing ? [testing] : []),
  ]
}

function withoutTesting(text: string): string {
  const parts = text.split(';').map((part) => part.trim())
  const kept = parts.flatMap((part) => {
    const [, flags] = /^t\s*=\s*(.*)$/.exec(part) ?? []
    if (flags === undefined) return part === '' ? [] : [part]
    const rest = withoutFlag(flags)
    return rest === '' ? [] : [`t=${rest}`]
  })
  return kept.join('; ')
}

function withoutFlag(flags: string): string {
  const kept = flags.split(':').filter((flag) => flag.trim().toLowerCase() !== 'y')
  return kept.join(':')
}
