import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { DB } from '../../../store/tables.ts'
import type { Exports } from '../../export/exports.ts'
import { readPublished } from '../../export/publish.ts'
import { parseNetwork } from '../../networks/network.ts'
import { createNetworkSet, type NetworkSet } from '../../networks/network-set.ts'
import { listActiveAddresses } from '../bans/store.ts'
import { findFleet } from '../store.ts'

/** The lists of this installation as sets, made once per version. */
export type OwnSets = {
  shared(): Promise<NetworkSet>
  fleet(workspaceId: string): Promise<NetworkSet>
}

const MAX_FLEETS = 32

export function createOwnSets(deps: { db: Kysely<DB>; exports: Exports }): OwnSets {
  const { db, exports } = deps
  const sets = new LRUCache<string, { version: number; set: Promise<NetworkSet> }>({
    max: MAX_FLEETS,
  })

  function cached(key: string, version: number, read: () => Promise<string[]>) {
    const known = sets.get(key)
    if (known?.version === version) return known.set
    const made = { version, set: read().then(setOf) }
    sets.set(key, made)
    made.set.catch(() => {
      if (sets.get(key) === made) sets.delete(key)
    })
    return made.set
  }

  return {
    shared: () =>
      cached('shared', exports.current().version, async () =>
        (await readPublished(db, null)).map(({ address }) => address),
      ),
    async fleet(workspaceId) {
      const fleet = await findFleet(db, workspaceId)
      const read = () => listActiveAddresses(db, workspaceId)
      return cached(workspaceId, fleet?.cursor ?? 0, read)
    },
  }
}

/** A set of addresses and networks; other texts are left out. */
function setOf(texts: readonly string[]): NetworkSet {
  const networks = texts.flatMap((text) => parseNetwork(text) ?? [])
  return createNetworkSet(networks.map((network) => ({ ...network, since: 0 })))
}
