import { compareLists, type Comparison, type Pair, type SkippedMessages } from './compare-lists.ts'
import type { ProofLevel } from './proof-document.ts'
import type { MessageList, MessageSum } from './message-list.ts'

export type ComparedFolder = Pick<Comparison, 'onlySource' | 'onlyDestination'> & {
  /** Of the source: all messages. */
  source: MessageSum
  /** Of the destination: those that the source has as well. */
  kept: MessageSum
  /** Of the destination: the others. */
  additional: MessageSum
  /** The kept messages, as indexes of the destination. */
  keptIndexes: number[]
}

const NONE_SKIPPED: SkippedMessages = { isSkipped: () => false, isDiffering: () => false }

/**
 * Compares the messages of a folder on both sides, and counts what differs between kept messages.
 * @param permanentFlags flags that the folder of the destination can store (RFC 3501, 7.1)
 * @param skipped messages of the source that the migration did not copy, by the journal
 * @param changes is added to
 */
export function compareFolder(
  source: MessageList,
  destination: MessageList,
  {
    level,
    permanentFlags,
    skipped = NONE_SKIPPED,
  }: { level: ProofLevel; permanentFlags: string[] | null; skipped?: SkippedMessages },
  changes: Map<string, number>,
): ComparedFolder {
  const { pairs, onlySource, onlyDestination } = compareLists(
    source,
    destination,
    skipped,
    level === 'full',
  )
  const isStorable = storableFlags(permanentFlags)
  for (const pair of pairs)
    for (const change of changesOf(pair, source, destination, level, isStorable))
      changes.set(change, (changes.get(change) ?? 0) + 1)
  const keptIndexes = inOrder(
    destination,
    pairs.map((pair) => pair.destination),
  )
  return {
    source: source.sum(source.sorted()),
    kept: destination.sum(keptIndexes),
    additional: destination.sum(inOrder(destination, onlyDestination)),
    keptIndexes,
    onlySource,
    onlyDestination,
  }
}

function inOrder(list: MessageList, indexes: readonly number[]): number[] {
  return indexes.toSorted((a, b) => list.compareExact(a, list, b))
}

function* changesOf(
  { source, destination, by }: Pair,
  ours: MessageList,
  theirs: MessageList,
  level: ProofLevel,
  isStorable: (flag: string) => boolean,
): Generator<string> {
  const [sent, stored] = [ours.get(source), theirs.get(destination)]
  if (by === 'loose' && level === 'full') yield 'line_ends'
  else if (by !== 'exact' && level === 'headers') yield 'size'
  else if (by !== 'exact') yield stored.size < sent.size ? 'shortened' : 'content'
  if (sent.date !== null && stored.date !== null && Math.abs(sent.date - stored.date) >= 1_000)
    yield 'date'
  if (sent.flags === stored.flags) return
  const [before, after] = [flagsOf(sent.flags), flagsOf(stored.flags)]
  const lost = [...before.difference(after)]
  const gained = after.difference(before)
  if (lost.some((flag) => !isStorable(flag))) yield 'flags_not_permitted'
  if (gained.size > 0 || lost.some(isStorable)) yield 'flags'
}

function flagsOf(text: string): Set<string> {
  return new Set(text === '' ? [] : text.split(' '))
}

const STANDARD_FLAGS = new Set(['\\answered', '\\flagged', '\\deleted', '\\seen', '\\draft'])

/** Flags of a server’s own are copied to no other server. */
function storableFlags(permanentFlags: string[] | null): (flag: string) => boolean {
  const known = new Set(permanentFlags?.map((flag) => flag.toLowerCase()))
  return (flag) => {
    if (flag.startsWith('\\') && !STANDARD_FLAGS.has(flag)) return false
    return permanentFlags === null || known.has(flag) || known.has('\\*')
  }
}
