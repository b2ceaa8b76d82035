import { type Network, sizeOf } from './network.ts'

/**
 * Networks of one family, sorted, none inside another. Typed arrays, because a feed can have
 * 250,000 of them: ten or fourteen bytes each.
 */
export type Networks = {
  family: 4 | 6
  starts: BigUint64Array
  bits: Uint8Array
  /** Seconds since 1970: when each one was first seen. */
  since: Uint32Array
}

export type NetworkSet = { 4: Networks; 6: Networks }

export type SeenNetwork = Network & { since: number }

/** Creates a set; networks inside others are left out. */
export function createNetworkSet(networks: readonly SeenNetwork[]): NetworkSet {
  const kept: SeenNetwork[] = []
  for (const network of networks.toSorted(byStart)) {
    const last = kept.at(-1)
    const isInside = last?.family === network.family && network.start < last.start + sizeOf(last)
    if (!isInside) kept.push(network)
  }
  return packNetworks(kept)
}

/** Creates a set of networks that are sorted, none inside another. */
export function packNetworks(sorted: readonly (Network & { since?: number })[]): NetworkSet {
  return { 4: pack(sorted, 4), 6: pack(sorted, 6) }
}

function pack(sorted: readonly (Network & { since?: number })[], family: 4 | 6): Networks {
  const networks = sorted.filter((network) => network.family === family)
  const { length } = networks
  const starts = new BigUint64Array(length)
  const [bits, since] = [new Uint8Array(length), new Uint32Array(length)]
  for (const [at, network] of networks.entries()) {
    starts[at] = network.start
    bits[at] = network.bits
    since[at] = network.since ?? 0
  }
  return { family, starts, bits, since }
}

const byStart = (a: Network, b: Network) =>
  a.family - b.family || (a.start < b.start ? -1 : a.start > b.start ? 1 : a.bits - b.bits)

export const EMPTY_SET: NetworkSet = createNetworkSet([])

/** Joins sets of which each begins where the one before ends. */
export function joinNetworkSets(sets: readonly NetworkSet[]): NetworkSet {
  return { 4: joinNetworks(sets, 4), 6: joinNetworks(sets, 6) }
}

function joinNetworks(sets: readonly NetworkSet[], family: 4 | 6): Networks {
  const parts = sets.map((set) => set[family])
  const length = parts.reduce((sum, { starts }) => sum + starts.length, 0)
  const starts = new BigUint64Array(length)
  const [bits, since] = [new Uint8Array(length), new Uint32Array(length)]
  let at = 0
  for (const part of parts) {
    starts.set(part.starts, at)
    bits.set(part.bits, at)
    since.set(part.since, at)
    at += part.starts.length
  }
  return { family, starts, bits, since }
}

/** The networks of a set at some indexes, in order. */
export function pickNetworks({ family, ...from }: Networks, indexes: number[]): Networks {
  return {
    family,
    starts: BigUint64Array.from(indexes, (at) => from.starts[at] ?? 0n),
    bits: Uint8Array.from(indexes, (at) => from.bits[at] ?? 0),
    since: Uint32Array.from(indexes, (at) => from.since[at] ?? 0),
  }
}

export function countNetworks(set: NetworkSet): number {
  return set[4].starts.length + set[6].starts.length
}

/** The number of IPv4 addresses in a set. */
export function countIPv4Addresses({ 4: networks }: NetworkSet): number {
  return networks.bits.reduce((sum, bits) => sum + 2 ** (32 - bits), 0)
}

export function networkAt({ family, starts, bits, since }: Networks, index: number): SeenNetwork {
  return { family, start: starts[index] ?? 0n, bits: bits[index] ?? 0, since: since[index] ?? 0 }
}

export function endAt({ family, starts, bits }: Networks, index: number): bigint {
  return (starts[index] ?? 0n) + sizeOf({ family, bits: bits[index] ?? 0 })
}

/** The index of the first network that ends after this number. */
function firstEndingAfter(networks: Networks, start: bigint): number {
  let [low, high] = [0, networks.starts.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (endAt(networks, middle) > start) high = middle
    else low = middle + 1
  }
  return low
}

/** Finds a network of the set that contains this one, or is in it. */
export function findOverlapping(set: NetworkSet, network: Network): SeenNetwork | undefined {
  const networks = set[network.family]
  const index = firstEndingAfter(networks, network.start)
  const start = networks.starts[index]
  if (start === undefined || start >= network.start + sizeOf(network)) return undefined
  return networkAt(networks, index)
}

/** The index of exactly this network; -1 when the set has none. */
export function indexOfNetwork(networks: Networks, { start, bits }: Network): number {
  const index = firstEndingAfter(networks, start)
  return networks.starts[index] === start && networks.bits[index] === bits ? index : -1
}

/** Adds and removes networks of a set, which are as wide as those that are there. */
export function changeNetworkSet(
  set: NetworkSet,
  { added, removed }: { added: NetworkSet; removed: NetworkSet },
): NetworkSet {
  return {
    4: changeNetworks(set[4], added[4], removed[4]),
    6: changeNetworks(set[6], added[6], removed[6]),
  }
}

function changeNetworks(before: Networks, added: Networks, removed: Networks): Networks {
  const most = before.starts.length + added.starts.length
  const starts = new BigUint64Array(most)
  const [bits, since] = [new Uint8Array(most), new Uint32Array(most)]
  let [count, nextAdded, nextRemoved] = [0, 0, 0]
  const take = (from: Networks, at: number) => {
    starts[count] = from.starts[at] ?? 0n
    bits[count] = from.bits[at] ?? 0
    since[count] = from.since[at] ?? 0
    count += 1
  }
  for (let at = 0; at < before.starts.length; at += 1) {
    const start = before.starts[at] ?? 0n
    while ((added.starts[nextAdded] ?? start) < start) take(added, nextAdded++)
    if (added.starts[nextAdded] === start) nextAdded += 1
    while ((removed.starts[nextRemoved] ?? start) < start) nextRemoved += 1
    if (removed.starts[nextRemoved] !== start) take(before, at)
  }
  while (nextAdded < added.starts.length) take(added, nextAdded++)
  const { family } = before
  return {
    family,
    starts: starts.slice(0, count),
    bits: bits.slice(0, count),
    since: since.slice(0, count),
  }
}

/** Lists the networks of a set that overlap this one. */
export function listOverlapping(set: NetworkSet, network: Network, limit: number): SeenNetwork[] {
  const networks = set[network.family]
  const end = network.start + sizeOf(network)
  const found: SeenNetwork[] = []
  for (let at = firstEndingAfter(networks, network.start); found.length < limit; at += 1) {
    const start = networks.starts[at]
    if (start === undefined || start >= end) break
    found.push(networkAt(networks, at))
  }
  return found
}

export function* networksOf(set: NetworkSet): Generator<SeenNetwork> {
  for (const networks of [set[4], set[6]])
    for (let at = 0; at < networks.starts.length; at += 1) yield networkAt(networks, at)
}

/** Counts the networks of a set that overlap any network of the other one. */
export function countOverlap(set: NetworkSet, other: NetworkSet): number {
  let count = 0
  for (const family of [4, 6] as const) {
    const [ours, theirs] = [set[family], other[family]]
    let at = 0
    for (let index = 0; index < ours.starts.length; index += 1) {
      const start = ours.starts[index] ?? 0n
      while (at < theirs.starts.length && endAt(theirs, at) <= start) at += 1
      const next = theirs.starts[at]
      if (next === undefined) break
      if (next < endAt(ours, index)) count += 1
    }
  }
  return count
}
