import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { DB } from '../../store/tables.ts'
import { setOf, type SharedSet } from '../../abuse/export/shared-set.ts'
import type { NetworkSet } from '../../protocols/networks/network-set.ts'
import { listActiveAddresses } from '../bans/fleet-bans.sql.ts'
import { findFleet } from '../fleet.sql.ts'

/** The lists of this installation as sets, made once per version. */
export type OwnSets = {
  shared(): Promise<NetworkSet>
  fleet(workspaceId: string): Promise<NetworkSet>
}

const MAX_FLEETS = 32

export function createOwnSets(deps: { db: Kysely<DB>; sharedSet: SharedSet }): OwnSets {
  const { db, sharedSet } = deps
  const fleets = new LRUCache<string, { cursor: number; set: Promise<NetworkSet> }>({
    max: MAX_FLEETS,
  })
  return {
    shared: async () => (await sharedSet.current()).set,
    async fleet(workspaceId) {
      const { cursor = 0 } = (await findFleet(db, workspaceId)) ?? {}
      const known = fleets.get(workspaceId)
      if (known?.cursor === cursor) return known.set
      const made = { cursor, set: listActiveAddresses(db, workspaceId).then(setOf) }
      fleets.set(workspaceId, made)
      made.set.catch(() => {
        if (fleets.get(workspaceId) === made) fleets.delete(workspaceId)
      })
      return made.set
    },
  }
}
