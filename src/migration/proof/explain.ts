import { readRecords } from '../engine/journal/copy-records.ts'
import type { Deletion } from '../engine/journal/deletions.ts'
import type { CopyFailure, SavedFolder } from '../engine/journal/journal.ts'
import { ProcessedMessages } from '../engine/journal/processed-messages.ts'
import { parseUidSet } from '../engine/journal/uid-set.ts'

/** What the journal knows about one folder of the source. */
export type FolderHistory = {
  /** Null for a folder that was never copied. */
  state: SavedFolder | null
  /** Packed records of its copies. */
  copies: Buffer
  failures: readonly CopyFailure[]
}

export type Explanation = { reason: string; detail: string | null }

/** What the destination has of a message: one with the same content, or the same Message-ID. */
export type SkippedCounterpart = { content: boolean; id: boolean }

/**
 * Explains messages that the destination does not have, from the journal. The journal never decides
 * whether a message is there.
 * @param isThere whether the destination has a message with this UID
 */
export function createMissingExplainer(
  { state, copies, failures }: FolderHistory,
  isThere: (uid: number) => boolean,
): (uid: number, has: SkippedCounterpart) => Explanation {
  const failed = new Map(failures.flatMap((each) => (each.uid === null ? [] : [[each.uid, each]])))
  const whole = failures.find(({ uid }) => uid === null)
  const none = { detail: whole?.message ?? null }
  if (state === null) return () => ({ reason: 'folder_not_copied', ...none })
  const processed = new ProcessedMessages(state)
  const there = parseUidSet(state.there)
  const records = readRecords(copies)
  return (uid, has) => {
    const failure = failed.get(uid)
    if (failure) return { reason: failure.code, detail: failure.message }
    if (there.has(uid)) return { reason: reasonOfSkipped(has), detail: null }
    if (!processed.has(uid)) return { reason: 'not_copied_yet', ...none }
    const to = records.get(uid)?.to ?? 0
    if (to === 0) return { reason: 'not_found', detail: null }
    const reason = isThere(to) ? 'changed_at_destination' : 'deleted_at_destination'
    return { reason, detail: null }
  }
}

function reasonOfSkipped({ content, id }: SkippedCounterpart): string {
  if (content) return 'already_there'
  return id ? 'other_content' : 'deleted_at_destination'
}

/** Explains messages that only the destination has. */
export function createAdditionalExplainer(
  states: readonly (SavedFolder | null)[],
  deletions: readonly Deletion[],
): (uid: number) => string {
  const recorded = new Set(deletions.map(({ record }) => record.to))
  const copied = states.flatMap((state) => (state ? [parseUidSet(state.copiedTo)] : []))
  const first = Math.min(...states.map((state) => state?.destinationUidNext ?? Infinity))
  return (uid) => {
    if (recorded.has(uid)) return 'deleted_at_source'
    if (copied.some((uids) => uids.has(uid))) return 'no_longer_at_source'
    return uid < first ? 'there_before' : 'arrived_there'
  }
}
