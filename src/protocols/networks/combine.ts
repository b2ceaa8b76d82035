import { setImmediate as breathe } from 'node:timers/promises'
import { contains, overlap, type Network } from './network.ts'
import {
  createNetworkSet,
  endAt,
  listOverlapping,
  networkAt,
  type Networks,
  type NetworkSet,
} from './network-set.ts'

/** A set of networks with the name of where it comes from. */
export type NamedSet = { name: string; set: NetworkSet }

/** A network of a combined list, and the names of the sets that contain it or a part of it. */
export type CombinedNetwork = Network & { names: string[] }

/** Networks after which others get their turn: a few milliseconds, the first time. */
const NETWORKS_PER_TURN = 1_000

/**
 * Combines sets into one list, sorted, without networks inside others, and without the excluded
 * networks: a network that contains one is split around it.
 */
export async function combineSets(
  sets: readonly NamedSet[],
  excluded: readonly Network[],
): Promise<CombinedNetwork[]> {
  const parts: CombinedNetwork[][] = []
  for await (const part of combineInParts(sets, excluded)) parts.push(part)
  return parts.flat()
}

/** The same, in parts between which other requests get their turn. */
export async function* combineInParts(
  sets: readonly NamedSet[],
  excluded: readonly Network[],
): AsyncGenerator<CombinedNetwork[]> {
  const out = createNetworkSet(excluded.map((network) => ({ ...network, since: 0 })))
  for (const family of [4, 6] as const) {
    const heads = sets.map(({ name, set }) => ({ name, networks: set[family], at: 0 }))
    let part: CombinedNetwork[] = []
    for (let next = takeNext(heads); next; next = takeNext(heads)) {
      part.push(...splitAround(next, listOverlapping(out, next, Infinity)))
      if (part.length < NETWORKS_PER_TURN) continue
      yield part
      part = []
      await breathe()
    }
    yield part
  }
}

type Head = { name: string; networks: Networks; at: number }

/** The widest of the networks that begin first, with all that are inside it. */
function takeNext(heads: Head[]): CombinedNetwork | undefined {
  let first: Head | undefined
  for (const head of heads) if (isBefore(head, first)) first = head
  if (!first) return undefined
  const { family, start, bits } = networkAt(first.networks, first.at)
  const end = endAt(first.networks, first.at)
  const names: string[] = []
  for (const head of heads) {
    const before = head.at
    while ((head.networks.starts[head.at] ?? end) < end) head.at += 1
    if (head.at > before) names.push(head.name)
  }
  return { family, start, bits, names }
}

function isBefore({ networks, at }: Head, other: Head | undefined): boolean {
  const start = networks.starts[at]
  if (start === undefined) return false
  if (!other) return true
  const otherStart = other.networks.starts[other.at] ?? 0n
  const isWider = (networks.bits[at] ?? 0) < (other.networks.bits[other.at] ?? 0)
  return start < otherStart || (start === otherStart && isWider)
}

/** What is left of a network without the excluded ones, as the fewest networks. */
function splitAround<N extends Network>(network: N, excluded: readonly Network[]): N[] {
  const inside = excluded.filter((one) => overlap(one, network))
  if (inside.length === 0) return [network]
  if (inside.some((one) => contains(one, network))) return []
  const bits = network.bits + 1
  const half = 1n << BigInt((network.family === 4 ? 32 : 64) - bits)
  return [network.start, network.start + half].flatMap((start) =>
    splitAround({ ...network, start, bits }, inside),
  )
}
