import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { formatNetwork } from '../../protocols/networks/network.ts'
import { networkAt, type NetworkSet } from '../../protocols/networks/network-set.ts'
import { isWanted, wantsAll, type Decision, type DecisionFilter } from './decisions.ts'

/** Networks, and the decision about each of them. */
export type DecisionList = {
  /** The same for the same decisions; null for a list that is encoded only once. */
  key: string | null
  set: NetworkSet
  decide: (network: string, family: 4 | 6, index: number) => Decision
}

/**
 * Encodes the decisions of a list that pass a filter, in pieces of JSON without brackets. The list
 * is loaded when the first piece is read, so that a response can begin before.
 */
export type DecisionEncoder = (
  load: () => Promise<DecisionList>,
  filter: DecisionFilter,
) => AsyncIterable<Buffer>

/** Others get their turn between two pieces: one takes some milliseconds. */
const DECISIONS_PER_PIECE = 1_000

/** Bouncers that start together get the same bytes: some 500,000 decisions. */
const MAX_CACHED_BYTES = 64 * 1024 * 1024

export function createDecisionEncoder(): DecisionEncoder {
  const pieces = new LRUCache<string, Buffer>({
    maxSize: MAX_CACHED_BYTES,
    sizeCalculation: ({ byteLength }) => byteLength + 1,
  })
  return async function* encode(load, filter) {
    const list = await load()
    const isCached = list.key !== null && wantsAll(filter)
    for (const family of [4, 6] as const) {
      const { length } = list.set[family].starts
      for (let from = 0; from < length; from += DECISIONS_PER_PIECE) {
        const key = `${list.key} ${family} ${from}`
        const known = isCached ? pieces.get(key) : undefined
        const piece = known ?? encodePiece(list, family, from, filter)
        if (isCached && !known) pieces.set(key, piece)
        yield piece
        if (!known) await nextTurn()
      }
    }
  }
}

function encodePiece(
  { set, decide }: DecisionList,
  family: 4 | 6,
  from: number,
  filter: DecisionFilter,
): Buffer {
  const networks = set[family]
  const until = Math.min(from + DECISIONS_PER_PIECE, networks.starts.length)
  const decisions: Decision[] = []
  for (let index = from; index < until; index += 1) {
    const decision = decide(formatNetwork(networkAt(networks, index)), family, index)
    if (isWanted(decision, filter)) decisions.push(decision)
  }
  return Buffer.from(textOf(decisions))
}

/** JSON of an array, without its brackets. */
export const textOf = (items: object[]) => JSON.stringify(items).slice(1, -1)
