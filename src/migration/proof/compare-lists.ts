import type { KeyName, MessageList } from './message-list.ts'

/** A message of the source and the same message of the destination, by their indexes. */
export type Pair = { source: number; destination: number; by: KeyName }

/** Messages of two lists that belong together, and those that have no counterpart. */
export type Comparison = {
  pairs: Pair[]
  onlySource: number[]
  onlyDestination: number[]
}

/** Messages of the source that the migration skipped, by their indexes. */
export type SkippedMessages = {
  /** Without a copy: a message with the same Message-ID is not their copy. */
  isSkipped: (index: number) => boolean
  /** Of them, those that were found to have another content than what is there. */
  isDiffering: (index: number) => boolean
}

/**
 * Pairs the messages of two folders. Each message has one counterpart at most: two equal messages of
 * the source need two of the destination.
 * @param isByContent whether the exact keys are of the contents
 */
export function compareLists(
  source: MessageList,
  destination: MessageList,
  { isSkipped, isDiffering }: SkippedMessages,
  isByContent: boolean,
): Comparison {
  const isKnownToDiffer = (index: number) => !isByContent && isDiffering(index)
  const found = pairExact(source, destination, (index) => !isKnownToDiffer(index))
  const copied = new Set(
    found.pairs.map((pair) => destination.key(pair.destination, 'exact').toString('latin1')),
  )
  pairBy('loose', source, destination, found, {
    here: (index) => isByContent || !isSkipped(index),
    there: () => true,
  })
  // A second copy of another message is not this one with other bytes.
  pairBy('id', source, destination, found, {
    here: (index) => !isSkipped(index),
    there: (index) => !copied.has(destination.key(index, 'exact').toString('latin1')),
  })
  found.onlySource.push(...source.sorted().filter(isKnownToDiffer))
  return found
}

function pairExact(
  source: MessageList,
  destination: MessageList,
  isComparable: (index: number) => boolean,
): Comparison {
  const found: Comparison = { pairs: [], onlySource: [], onlyDestination: [] }
  const [ours, theirs] = [source.sorted().filter(isComparable), destination.sorted()]
  let [a, b] = [0, 0]
  for (;;) {
    const [one, other] = [ours[a], theirs[b]]
    if (one === undefined || other === undefined) break
    const order = source.compareExact(one, destination, other)
    if (order === 0) found.pairs.push({ source: one, destination: other, by: 'exact' })
    else if (order < 0) found.onlySource.push(one)
    else found.onlyDestination.push(other)
    if (order <= 0) a += 1
    if (order >= 0) b += 1
  }
  return {
    pairs: found.pairs,
    onlySource: found.onlySource.concat(ours.slice(a)),
    onlyDestination: found.onlyDestination.concat(theirs.slice(b)),
  }
}

/** Pairs messages that are left by a key that is less exact. */
function pairBy(
  by: KeyName,
  source: MessageList,
  destination: MessageList,
  found: Comparison,
  isComparable: Record<'here' | 'there', (index: number) => boolean>,
): void {
  if (found.onlySource.length === 0 || found.onlyDestination.length === 0) return
  const keyOf = (list: MessageList, index: number) => list.key(index, by).toString('latin1')
  const waiting = Map.groupBy(found.onlyDestination.filter(isComparable.there), (index) =>
    keyOf(destination, index),
  )
  const paired = new Set<number>()
  found.onlySource = found.onlySource.filter((index) => {
    const other = isComparable.here(index) ? waiting.get(keyOf(source, index))?.shift() : undefined
    if (other === undefined) return true
    found.pairs.push({ source: index, destination: other, by })
    paired.add(other)
    return false
  })
  found.onlyDestination = found.onlyDestination.filter((index) => !paired.has(index))
}
