import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { DB } from '../../store/tables.ts'
import type { Exports } from '../../abuse/export/exports.ts'
import type { SharedSet } from '../../abuse/export/shared-set.ts'
import type { FormatName } from '../../abuse/export/export-formats.ts'
import { pack, type Packed } from '../../abuse/export/pack.ts'
import { combineSets, type NamedSet } from '../../protocols/networks/combine.ts'
import { parseNetwork } from '../../protocols/networks/network.ts'
import type { PublicFeeds } from '../../public-feeds/public-feeds.ts'
import { chosenFeeds } from '../public-feeds/feed-selection.ts'
import { listProtectedNetworks, type ProtectionDeps } from '../protection.ts'
import { MINUTE_MS } from '../../time.ts'
import { listBanEnds } from '../bans/fleet-bans.sql.ts'
import { findFleet } from '../fleet.sql.ts'
import { createOwnSets, type OwnSets } from './own-sets.ts'
import { renderExport } from './render.ts'

export type FleetExportDeps = ProtectionDeps & {
  db: Kysely<DB>
  clock: () => number
  exports: Exports
  sharedSet: SharedSet
  publicFeeds: PublicFeeds
  pageUrl: string
}

type FleetExportRequest = {
  workspaceId: string
  format: FormatName
  /** Null for those in the settings of the fleet. */
  feeds: readonly string[] | null
  shared: boolean | null
  /** Whether it has the bans of the workspace. */
  bans: boolean
}

/** Creates files with the fleet list of a workspace, and the lists that it chose. */
export type FleetExports = {
  file(request: FleetExportRequest): Promise<Packed>
  sets: OwnSets
}

/** Files in memory; each has up to some megabytes. */
const MAX_FILES = 32

export function createFleetExports(deps: FleetExportDeps): FleetExports {
  const files = new LRUCache<string, Promise<Packed>>({ max: MAX_FILES })
  const sets = createOwnSets(deps)
  return {
    sets,
    async file(request) {
      const content = await gatherContent(deps, request)
      const minute = endsBans(request) ? Math.floor(deps.clock() / MINUTE_MS) : ''
      const key = `${request.workspaceId} ${request.format} ${content.fingerprint} ${minute}`
      const known = files.get(key)
      if (known) return known
      const making = makeFile(deps, request, content, sets)
      files.set(key, making)
      making.catch(() => files.delete(key))
      return making
    },
  }
}

type Content = {
  feeds: ReturnType<PublicFeeds['listInUse']>
  shared: boolean
  version: number
  protectedNetworks: string[]
  /** Differs whenever a part of the file may differ. */
  fingerprint: string
}

async function gatherContent(
  deps: FleetExportDeps,
  { workspaceId, ...wanted }: FleetExportRequest,
): Promise<Content> {
  const fleet = await findFleet(deps.db, workspaceId)
  const feeds = chosenFeeds(deps.publicFeeds, wanted.feeds ?? fleet?.feeds ?? []).fitting
  const shared = wanted.shared ?? fleet?.servesShared ?? false
  const { version } = deps.exports.current()
  const protectedNetworks = await listProtectedNetworks(deps.db, workspaceId, deps)
  const parts = {
    cursor: wanted.bans && (fleet?.cursor ?? 0),
    shared: shared && version,
    feeds: feeds.map((feed) => `${feed.feed.id} ${feed.version}`),
    protectedNetworks,
  }
  const fingerprint = createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
  return { feeds, shared, version, protectedNetworks, fingerprint }
}

/** Whether the file says when bans end, counted from its own time. */
const endsBans = ({ bans, format }: FleetExportRequest) => bans && format === 'mikrotik'

async function makeFile(
  { exports, pageUrl, db, clock }: FleetExportDeps,
  request: FleetExportRequest,
  { feeds, shared, protectedNetworks }: Content,
  ownSets: OwnSets,
): Promise<Packed> {
  const { workspaceId, format, bans } = request
  const sets: NamedSet[] = [
    ...(bans ? [{ name: 'fleet', set: await ownSets.fleet(workspaceId) }] : []),
    ...(shared ? [{ name: 'shared', set: await ownSets.shared() }] : []),
    ...feeds.map(({ feed, set }) => ({ name: feed.id, set })),
  ]
  const excluded = protectedNetworks.map(parseNetwork).filter((network) => network !== null)
  const networks = await combineSets(sets, excluded)
  // Only times of the content: the file is the same in every instance.
  const times = [exports.current().createdAt, ...feeds.map(({ changedAt }) => changedAt)]
  const generatedAt = new Date(Math.max(...times.map((time) => time.getTime())))
  if (!endsBans(request)) return pack(renderExport(format, networks, { generatedAt, pageUrl }))
  const facts = {
    generatedAt: new Date(clock()),
    pageUrl,
    bans: await listBanEnds(db, workspaceId),
  }
  return pack(renderExport(format, networks, facts))
}
