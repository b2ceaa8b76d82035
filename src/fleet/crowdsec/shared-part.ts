import { setOf, type VersionedSet } from '../../abuse/export/shared-set.ts'
import { formatNetwork, parseNetwork } from '../../protocols/networks/network.ts'
import { indexOfNetwork, networksOf } from '../../protocols/networks/network-set.ts'
import type { DecisionList } from './decision-encoder.ts'
import { sharedDecision, SHARED_ORIGIN, SHARED_SECONDS } from './decisions.ts'
import { EMPTY_PART, type StreamContext, type StreamPart } from './stream-part.ts'

/** The list is sent again after this time, before its decisions end on the bouncer. */
const AGAIN_MS = (SHARED_SECONDS * 1000) / 2

/** What a bouncer is sent of the shared list: all of it, or the changes since what it has. */
export async function sharedPart(
  { deps, known, filter }: StreamContext,
  isServed: boolean,
): Promise<StreamPart> {
  const { sharedSet, encode } = deps
  const { sharedVersion = null, sharedAt = null } = known ?? {}
  if (!isServed) {
    const state = { sharedVersion: null, sharedAt: null }
    if (sharedVersion === null) return { ...EMPTY_PART, state }
    const { set } = await sharedSet.current()
    const removed = Array.from(networksOf(set), formatNetwork)
    return { ...EMPTY_PART, origin: SHARED_ORIGIN, removed, state }
  }
  const now = deps.clock()
  const load = async () => sharedSet.latest() ?? sharedSet.current()
  const changes = sharedVersion === null ? null : await sharedSet.changesSince(sharedVersion)
  const removed = changes?.removed ?? []
  const finder = async () => finderIn(await load(), new Set(removed))
  const part = { origin: SHARED_ORIGIN, removed, finder }
  if (!changes || sharedAt === null || now - sharedAt > AGAIN_MS) {
    const { version } = sharedSet.latest() ?? deps.exports.current()
    const added = [encode(async () => listOf(await load()), filter)]
    return { ...part, added, state: { sharedVersion: version, sharedAt: now } }
  }
  const list = async () => ({ key: null, set: setOf(changes.added), decide: sharedDecision })
  const added = changes.added.length === 0 ? [] : [encode(list, filter)]
  return { ...part, added, state: { sharedVersion: changes.version, sharedAt } }
}

const listOf = ({ version, set }: VersionedSet): DecisionList => ({
  key: `shared ${version}`,
  set,
  decide: sharedDecision,
})

/** @param removed since a newer version than the loaded one */
function finderIn({ set }: VersionedSet, removed: ReadonlySet<string>) {
  return (value: string) => {
    const network = removed.has(value) ? null : parseNetwork(value)
    const has = network !== null && indexOfNetwork(set[network.family], network) !== -1
    return has ? sharedDecision(value) : undefined
  }
}
