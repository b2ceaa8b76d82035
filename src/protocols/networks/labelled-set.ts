import { combineInParts, type NamedSet } from './combine.ts'
import type { Network } from './network.ts'
import {
  indexOfNetwork,
  joinNetworkSets,
  packNetworks,
  pickNetworks,
  type NetworkSet,
} from './network-set.ts'

/** A combined list in compact form: each network with the first of the sets that contain it. */
export type LabelledSet = {
  names: readonly string[]
  set: NetworkSet
  /** Indexes of names. */
  labels: { 4: Uint8Array; 6: Uint8Array }
}

export const nameAt = ({ names, labels }: LabelledSet, family: 4 | 6, index: number): string =>
  names[labels[family][index] ?? 0] ?? ''

/** Combines up to 255 sets without the excluded networks; see `combineSets`. */
export async function createLabelledSet(
  sets: readonly NamedSet[],
  excluded: readonly Network[],
): Promise<LabelledSet> {
  const names = sets.map(({ name }) => name)
  const [only, ...others] = sets
  if (only && others.length + excluded.length === 0) return labelOne(only)
  const parts: NetworkSet[] = []
  const labels: Record<4 | 6, number[]> = { 4: [], 6: [] }
  for await (const part of combineInParts(sets, excluded)) {
    parts.push(packNetworks(part))
    for (const network of part) labels[network.family].push(names.indexOf(network.names[0] ?? ''))
  }
  return {
    names,
    set: joinNetworkSets(parts),
    labels: { 4: Uint8Array.from(labels[4]), 6: Uint8Array.from(labels[6]) },
  }
}

const labelOne = ({ name, set }: NamedSet): LabelledSet => ({
  names: [name],
  set,
  labels: { 4: new Uint8Array(set[4].starts.length), 6: new Uint8Array(set[6].starts.length) },
})

/** What one list has and the other one has not; a change of a label alone is none. */
export function differenceOf(
  before: LabelledSet,
  after: LabelledSet,
): { added: LabelledSet; removed: NetworkSet } {
  const added = { 4: onlyIn(after.set, before.set, 4), 6: onlyIn(after.set, before.set, 6) }
  const set = { 4: pickNetworks(after.set[4], added[4]), 6: pickNetworks(after.set[6], added[6]) }
  const labelsOf = (family: 4 | 6) =>
    Uint8Array.from(added[family], (at) => after.labels[family][at] ?? 0)
  return {
    added: { names: after.names, set, labels: { 4: labelsOf(4), 6: labelsOf(6) } },
    removed: {
      4: pickNetworks(before.set[4], onlyIn(before.set, after.set, 4)),
      6: pickNetworks(before.set[6], onlyIn(before.set, after.set, 6)),
    },
  }
}

/** Indexes of the networks that only the first set has, as they are. */
function onlyIn(set: NetworkSet, other: NetworkSet, family: 4 | 6): number[] {
  const [{ starts, bits }, theirs] = [set[family], other[family]]
  const found: number[] = []
  let next = 0
  for (let at = 0; at < starts.length; at += 1) {
    const start = starts[at] ?? 0n
    while ((theirs.starts[next] ?? start) < start) next += 1
    if (theirs.starts[next] !== start || theirs.bits[next] !== bits[at]) found.push(at)
  }
  return found
}

/** The name of exactly this network in a list; undefined when it has none. */
export function findName(list: LabelledSet, network: Network): string | undefined {
  const index = indexOfNetwork(list.set[network.family], network)
  return index === -1 ? undefined : nameAt(list, network.family, index)
}
