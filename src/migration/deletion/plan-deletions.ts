import { createFingerprintCounts } from '../engine/identify/fingerprint.ts'
import type { IdentifiedMessage } from '../engine/identify/identify.ts'

/** What to delete. */
export type Deletions = {
  /** Messages of the source that the destination has. */
  copiedAtSource: boolean
  /** Removes them at once; otherwise they are only marked. */
  removeAtSource: boolean
  /** Messages of the destination that the source lacks. */
  unknownAtDestination: boolean
  /** Messages that the destination has more often than the source, with equal sizes. */
  duplicatesAtDestination: boolean
}

/** UIDs, ascending. */
export type DeletionPlan = { sources: number[][]; destination: number[] }

/**
 * Chooses the messages to delete in one folder of the destination and its folders at the source.
 * @param sources the messages of each source folder
 */
export function planDeletions(
  sources: readonly (readonly IdentifiedMessage[])[],
  found: readonly IdentifiedMessage[],
  deletions: Deletions,
): DeletionPlan {
  const known = new Set(sources.flat().map(({ key }) => key))
  const allowed = countOf(sources.flat())
  const seen = new Map<string, number>()
  const remaining = createFingerprintCounts()
  const destination: number[] = []
  for (const message of found.toSorted((a, b) => a.uid - b.uid)) {
    const exact = exactKey(message)
    const count = (seen.get(exact) ?? 0) + 1
    const isUnknown = !known.has(message.key)
    const isDuplicate = count > Math.max(1, allowed.get(exact) ?? 0)
    seen.set(exact, count)
    if (
      (deletions.unknownAtDestination && isUnknown) ||
      (deletions.duplicatesAtDestination && isDuplicate)
    )
      destination.push(message.uid)
    else remaining.add(message.key)
  }
  const copied = (messages: readonly IdentifiedMessage[]) =>
    messages.filter(({ key }) => remaining.take(key)).map(({ uid }) => uid)
  return {
    sources: sources.map((messages) =>
      deletions.copiedAtSource ? ascending(copied(messages)) : [],
    ),
    destination,
  }
}

const ascending = (uids: number[]) => uids.toSorted((a, b) => a - b)

/** A Message-ID alone is no proof: a list changes a message and keeps its Message-ID. */
const exactKey = ({ key, size }: IdentifiedMessage) => `${size} ${key}`

function countOf(messages: readonly IdentifiedMessage[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const message of messages)
    counts.set(exactKey(message), (counts.get(exactKey(message)) ?? 0) + 1)
  return counts
}
