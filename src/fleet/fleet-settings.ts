import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { notifyChange } from '../store/changes.ts'
import type { DB } from '../store/tables.ts'
import { requireEnabled } from '../public-feeds/choose-feeds.ts'
import type { PublicFeeds } from '../public-feeds/public-feeds.ts'
import { requireService } from '../abuse/services.ts'
import { changeFleet } from './bans/bans.ts'
import { countBans } from './bans/fleet-bans.sql.ts'
import { MAX_ACTIVE_BANS } from './limits.ts'
import { chosenFeeds } from './public-feeds/feed-selection.ts'
import { DEFAULT_RULES, type FleetRule } from './fleet-rules.ts'
import { findFleet, saveFleetSettings } from './fleet.sql.ts'

/** Changes the rules of a workspace; null restores the default ones. */
export async function changeSettings(
  db: Kysely<DB>,
  workspaceId: string,
  {
    rules,
    servesShared,
    feeds,
    badge,
  }: {
    rules?: FleetRule[] | null
    servesShared?: boolean
    feeds?: string[]
    badge?: boolean
  },
): Promise<void> {
  const named = rules && rules.map((rule) => ({ ...rule, services: rule.services.map(idOf) }))
  if (feeds) await requireEnabled(db, feeds)
  await changeFleet(db, workspaceId, async (trx) => {
    await saveFleetSettings(trx, workspaceId, {
      ...(named !== undefined && { rules: named }),
      ...(servesShared !== undefined && { servesShared }),
      ...(feeds !== undefined && { feeds: [...new Set(feeds)] }),
      ...(badge !== undefined && { badgeId: badge ? randomUUID() : null }),
    })
    await notifyChange(trx, workspaceId, 'attacks')
  })
}

const idOf = (name: string) => requireService(name).id

/** The settings of a workspace’s list, and its size. */
export async function readSettings(
  { db, publicFeeds }: { db: Kysely<DB>; publicFeeds: PublicFeeds },
  workspaceId: string,
) {
  const fleet = await findFleet(db, workspaceId)
  const { active } = await countBans(db, workspaceId)
  const feeds = chosenFeeds(publicFeeds, fleet?.feeds ?? [])
  return {
    rules: fleet?.rules ?? [...DEFAULT_RULES],
    hasOwnRules: (fleet?.rules ?? null) !== null,
    servesShared: fleet?.servesShared ?? false,
    feeds: fleet?.feeds ?? [],
    feedNetworks: feeds.networks,
    feedsLeftOut: feeds.leftOut,
    badgeId: fleet?.badgeId ?? null,
    bans: active,
    maxBans: MAX_ACTIVE_BANS,
  }
}
