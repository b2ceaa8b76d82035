import { readContents } from '../engine/identify/content.ts'
import { ExistingMessages } from '../engine/identify/existing-messages.ts'
import type { IdentifiedMessage } from '../engine/identify/identify.ts'
import type { Wire } from '../../net/imap/connection/wire.ts'

/** What to delete. */
export type Deletions = {
  /** Messages of the source that the destination has. */
  copiedAtSource: boolean
  /** Removes them at once; otherwise they are only marked. */
  removeAtSource: boolean
  /** Messages of the destination that the source lacks. */
  unknownAtDestination: boolean
  /** Messages that the destination has more often than the source, with equal content. */
  duplicatesAtDestination: boolean
}

/** Messages whose contents are compared together. */
const MESSAGES_AT_ONCE = 500

/**
 * Chooses the messages to delete in one folder of the destination.
 * @param sources the messages of its folders at the source
 * @param destination with the folder open
 * @returns UIDs, ascending
 * @throws ImapRefused, ImapLost
 */
export async function planAtDestination(
  sources: readonly IdentifiedMessage[],
  found: readonly IdentifiedMessage[],
  destination: Wire,
  { unknownAtDestination, duplicatesAtDestination }: Deletions,
): Promise<number[]> {
  const known = new Set(sources.map(({ key }) => key))
  const unknown = unknownAtDestination ? found.filter(({ key }) => !known.has(key)) : []
  const duplicates = duplicatesAtDestination
    ? await findDuplicates(sources, found, destination)
    : []
  return [...new Set([...unknown, ...duplicates].map(({ uid }) => uid))].toSorted((a, b) => a - b)
}

/** A Message-ID is no proof: a list changes a message and keeps it, and so does a draft. */
async function findDuplicates(
  sources: readonly IdentifiedMessage[],
  found: readonly IdentifiedMessage[],
  destination: Wire,
): Promise<IdentifiedMessage[]> {
  const sizedKey = ({ key, size }: IdentifiedMessage) => `${size} ${key}`
  const wanted = Map.groupBy(sources, sizedKey)
  const duplicates: IdentifiedMessage[] = []
  for (const [key, group] of Map.groupBy(found, sizedKey)) {
    const count = Math.max(1, wanted.get(key)?.length ?? 0)
    if (group.length <= count) continue
    const contents = await readContents(destination, group)
    const digestOf = ({ uid }: IdentifiedMessage) => contents.get(uid)?.exact.toString('hex')
    for (const [digest, equal] of Map.groupBy(group, digestOf))
      if (digest !== undefined)
        duplicates.push(...equal.toSorted((a, b) => a.uid - b.uid).slice(count))
  }
  return duplicates
}

/** Indexes the messages that the destination keeps. */
export function indexKept(
  found: readonly IdentifiedMessage[],
  deleted: readonly number[],
): ExistingMessages {
  const gone = new Set(deleted)
  const kept = new ExistingMessages()
  for (const { uid, key, row } of found) if (!gone.has(uid)) kept.add(key, row)
  return kept
}

/**
 * Chooses the messages of a folder of the source of which the destination keeps one with the same
 * bytes, each of them read on both sides; for two at the source, two.
 * @param source with the folder open
 * @param destination with the folder open
 * @returns UIDs, ascending
 * @throws ImapRefused, ImapLost
 */
export async function planAtSource(
  messages: readonly IdentifiedMessage[],
  kept: ExistingMessages,
  source: Wire,
  destination: Wire,
): Promise<number[]> {
  const rows = messages.map(({ row }) => row).toSorted((a, b) => a.uid - b.uid)
  const uids: number[] = []
  for (let at = 0; at < rows.length; at += MESSAGES_AT_ONCE) {
    const some = rows.slice(at, at + MESSAGES_AT_ONCE)
    const matches = await kept.match(some, source, destination, { isStrict: true })
    for (const [uid, { is }] of matches) if (is === 'same') uids.push(uid)
  }
  return uids.toSorted((a, b) => a - b)
}
