import type { ProofLevel, ProofTotals, Verdict } from './proof-document.ts'

/**
 * Words about a proof that the dashboard and the command line share. The dashboard imports this
 * file, so it imports types alone.
 */

export const VERDICT_TEXTS: Record<Verdict, string> = {
  identical: 'The destination has every message of the source, unchanged.',
  complete: 'The destination has every message of the source. Some of them differ.',
  incomplete: 'The destination does not have every message of the source.',
}

/**
 * The verdict of a proof in a sentence. Where there are no messages, nothing is proven: a wrong
 * account looks like this.
 */
export function describeVerdict({
  verdict,
  totals,
}: {
  verdict: Verdict
  totals: Pick<ProofTotals, 'source' | 'additional'>
}): string {
  if (!isEmptyProof(totals)) return VERDICT_TEXTS[verdict]
  if (verdict === 'incomplete')
    return 'Nothing is proven: not everything could be read, and the rest is empty (0 messages).'
  return totals.additional.messages === 0
    ? 'Nothing to prove: both sides are empty (0 messages).'
    : 'Nothing to prove: the source is empty (0 messages).'
}

/** Whether a proof says nothing, because the source has no messages. */
export function isEmptyProof({ source }: Pick<ProofTotals, 'source'>): boolean {
  return source.messages === 0
}

export const LEVEL_TEXTS: Record<ProofLevel, string> = {
  headers: 'Message-ID, size, date and flags of every message on both servers',
  full: 'every message on both servers, byte by byte',
}

type Texts = Readonly<Record<string, string>>

/** How a message of the destination differs. */
export const DIFFERENCES: Texts = {
  line_ends: 'with other line ends',
  content: 'with other bytes, found by Message-ID',
  shortened: 'with fewer bytes, found by Message-ID',
  size: 'with another size, found by Message-ID',
  date: 'with another date',
  flags: 'with other flags',
  flags_not_permitted: 'without flags that the destination does not store',
  folder: 'in another folder',
}

/** Why the destination does not have a message. */
export const MISSING: Texts = {
  not_copied_yet: 'arrived after the last pass',
  deleted_at_destination: 'copied, then deleted at the destination',
  changed_at_destination: 'copied, then changed at the destination',
  folder_not_copied: 'in folders that were not copied',
  unreadable: 'listed but not returned by the source',
  not_listed: 'claimed by the source, but not listed, or in a folder that it does not open',
  not_found: 'not found at the destination',
  not_opened: 'in folders that the destination does not open',
  too_large: 'larger than the destination accepts',
  over_quota: 'rejected: the destination is full',
  rejected: 'rejected by the destination',
  unfetchable: 'not returned by the source when it was copied',
  undecided: 'not copied: whether the destination has it is not known',
  connection_lost: 'not copied: the connection broke each time',
  other: 'rejected by the destination',
  other_content: 'left out: the destination had one with the same Message-ID, other content',
  already_there: 'left out: the destination has the same message',
  copied_in_other_folder: 'left out: copied with another folder',
}

/** Why only the destination has a message. */
export const ADDITIONAL: Texts = {
  deleted_at_source: 'deleted at the source after it was copied',
  no_longer_at_source: 'no longer at the source',
  there_before: 'at the destination before the migration',
  arrived_there: 'arrived at the destination',
  of_other_folder: 'moved there from another folder',
}

const REASONS: Texts = { ...DIFFERENCES, ...MISSING, ...ADDITIONAL }

/** Describes a reason; codes of servers’ answers are shown as they are. */
export function reasonText(reason: string): string {
  return REASONS[reason] ?? `not copied (${reason})`
}
