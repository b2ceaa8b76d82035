import { findName, nameAt, type LabelledSet } from '../../protocols/networks/labelled-set.ts'
import { formatNetwork, parseNetwork } from '../../protocols/networks/network.ts'
import { networksOf } from '../../protocols/networks/network-set.ts'
import type { DecisionList } from './decision-encoder.ts'
import { FEED_ORIGIN, FEED_SECONDS, feedDecision } from './decisions.ts'
import { EMPTY_PART, type StreamContext, type StreamPart } from './stream-part.ts'

/** Entries are sent again after this time, before their decisions end on the bouncer. */
const AGAIN_MS = (FEED_SECONDS * 1000) / 2

/** What a bouncer is sent of public feeds: all entries, or the changes since what it has. */
export async function feedsPart(
  { deps, workspaceId, known, filter }: StreamContext,
  ids: readonly string[],
): Promise<StreamPart> {
  const { feeds: before = null, feedsAt = null } = known ?? {}
  const selection = await deps.feedSelections.current(workspaceId, ids)
  if (!selection && !before) return { ...EMPTY_PART, state: { feeds: null, feedsAt: null } }
  const now = deps.clock()
  const isSame = before?.key === selection?.key
  const changes = before && !isSame ? await deps.feedLists.difference(before, selection) : null
  const removed = changes ? Array.from(networksOf(changes.removed), formatNetwork) : []
  if (!selection)
    return { ...EMPTY_PART, origin: FEED_ORIGIN, removed, state: { feeds: null, feedsAt: null } }
  const load = () => deps.feedLists.list(selection)
  const part = { origin: FEED_ORIGIN, removed, finder: async () => finderIn(await load()) }
  const isKnown = isSame || changes !== null
  if (!isKnown || feedsAt === null || now - feedsAt > AGAIN_MS) {
    const added = [deps.encode(async () => listOf(await load(), `feeds ${selection.key}`), filter)]
    return { ...part, added, state: { feeds: selection, feedsAt: now } }
  }
  const added = changes ? [deps.encode(async () => listOf(changes.added, null), filter)] : []
  return { ...part, added, state: { feeds: selection, feedsAt } }
}

const listOf = (list: LabelledSet, key: string | null): DecisionList => ({
  key,
  set: list.set,
  decide: (network, family, index) => feedDecision(network, nameAt(list, family, index)),
})

function finderIn(list: LabelledSet) {
  return (value: string) => {
    const network = parseNetwork(value)
    const name = network ? findName(list, network) : undefined
    return name === undefined ? undefined : feedDecision(value, name)
  }
}
