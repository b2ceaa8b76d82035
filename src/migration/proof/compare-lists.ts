import type { KeyName, MessageList } from './message-list.ts'

/** A message of the source and the same message of the destination, by their indexes. */
export type Pair = { source: number; destination: number; by: KeyName }

/** Messages of two lists that belong together, and those that have no counterpart. */
export type Comparison = {
  pairs: Pair[]
  onlySource: number[]
  onlyDestination: number[]
}

/**
 * Pairs the messages of two folders. Each message has one counterpart at most: two equal messages of
 * the source need two of the destination.
 */
export function compareLists(source: MessageList, destination: MessageList): Comparison {
  const found = pairExact(source, destination)
  for (const by of ['loose', 'id'] as const) pairBy(by, source, destination, found)
  return found
}

function pairExact(source: MessageList, destination: MessageList): Comparison {
  const found: Comparison = { pairs: [], onlySource: [], onlyDestination: [] }
  const [ours, theirs] = [source.sorted(), destination.sorted()]
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
): void {
  if (found.onlySource.length === 0 || found.onlyDestination.length === 0) return
  const keyOf = (list: MessageList, index: number) => list.key(index, by).toString('latin1')
  const waiting = Map.groupBy(found.onlyDestination, (index) => keyOf(destination, index))
  const paired = new Set<number>()
  found.onlySource = found.onlySource.filter((index) => {
    const other = waiting.get(keyOf(source, index))?.shift()
    if (other === undefined) return true
    found.pairs.push({ source: index, destination: other, by })
    paired.add(other)
    return false
  })
  found.onlyDestination = found.onlyDestination.filter((index) => !paired.has(index))
}
