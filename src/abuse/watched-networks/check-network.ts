import type { Kysely } from 'kysely'
import type { Logger } from '../../log.ts'
import { raiseAlert, raiseResolved } from '../../alerts/raise.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { formatNetwork, parseNetwork } from '../networks/network.ts'
import { listOverlapping } from '../networks/network-set.ts'
import { findPublicFeed } from '../public-feeds/catalogue.ts'
import type { PublicFeeds } from '../public-feeds/public-feeds.ts'
import { listFeeds } from '../public-feeds/store.ts'
import { CHECK_INTERVAL_MS, MAX_FINDINGS } from './limits.ts'
import { clearedAlert, foundAlert, incidentOf } from './messages.ts'
import {
  insertFindings,
  listDue,
  listListedIn,
  listOpen,
  lockWatched,
  resolveFindings,
  type Finding,
  type FindingRow,
  type WatchedNetwork,
} from './store.ts'

export type WatchDeps = {
  db: Kysely<DB>
  log: Logger
  clock: () => number
  publicFeeds: PublicFeeds
}

export const SHARED_LIST = 'shared'

const NETWORKS_PER_PAGE = 200

/** Checks all networks that are due. @returns how many */
export async function checkDueNetworks(deps: WatchDeps, signal: AbortSignal): Promise<number> {
  let checked = 0
  while (!signal.aborted) {
    const before = new Date(deps.clock() - CHECK_INTERVAL_MS)
    const due = await listDue(deps.db, { before, limit: NETWORKS_PER_PAGE })
    if (due.length === 0) break
    const enabled = await listEnabled(deps)
    for (const network of due) {
      signal.throwIfAborted()
      await checkNetwork(deps, network, enabled)
      checked += 1
    }
  }
  return checked
}

async function listEnabled({ db }: WatchDeps): Promise<Set<string>> {
  return new Set((await listFeeds(db)).filter(({ enabled }) => enabled).map(({ id }) => id))
}

/**
 * Looks up a network in the attack list and in the feeds in use, and alerts its workspace of what
 * is new or gone. A feed that is too old to use proves nothing: its findings stay open.
 */
export async function checkNetwork(
  deps: WatchDeps,
  watched: WatchedNetwork,
  enabled: ReadonlySet<string>,
): Promise<void> {
  const { db, publicFeeds, clock } = deps
  const network = parseNetwork(watched.network)
  if (!network) return
  const feeds = publicFeeds.listInUse()
  const found: Finding[] = [
    ...(await listListedIn(db, watched.network, MAX_FINDINGS)).map((entry) => ({ list: SHARED_LIST, entry })), // prettier-ignore
    ...feeds.flatMap(({ feed, set }) =>
      listOverlapping(set, network, MAX_FINDINGS).map((one) => ({
        list: feed.id,
        entry: formatNetwork(one),
      })),
    ),
  ].map((finding) => ({ ...finding, entry: withLength(finding.entry) }))
  const known = new Set([SHARED_LIST, ...feeds.map(({ feed }) => feed.id)])
  const at = new Date(clock())
  await db.transaction().execute(async (trx) => {
    if (!(await lockWatched(trx, watched.id, at))) return
    const open = await listOpen(trx, watched.id)
    const keyOf = ({ list, entry }: Finding) => `${list} ${withLength(entry)}`
    const [before, now] = [new Set(open.map(keyOf)), new Set(found.map(keyOf))]
    const added = found.filter((finding) => !before.has(keyOf(finding)))
    const isGone = (row: FindingRow) =>
      known.has(row.list) ? !now.has(keyOf(row)) : !enabled.has(row.list)
    const gone = open.filter(isGone)
    if (added.length + gone.length === 0) return
    await insertFindings(trx, watched.id, added, at)
    await resolveFindings(trx, gone.map(({ id }) => id), at) // prettier-ignore
    const { workspaceId, id } = watched
    for (const list of new Set([...added, ...gone].map((one) => one.list))) {
      const ofList = <T extends Finding>(findings: T[]) =>
        findings.filter((one) => one.list === list)
      const left = ofList(open).length - ofList(gone).length + ofList(added).length
      const isFeed = findPublicFeed(list)
      const subject = {
        watched,
        feed: isFeed,
        added: ofList(added).map(({ entry }) => entry),
        left,
      }
      const common = {
        workspaceId,
        key: `network ${id} ${list} ${at.toISOString()}`,
        incident: incidentOf(id, list),
        path: `/attacks/networks/${id}`,
        objects: [watched.network],
        at,
      }
      if (left === 0)
        await raiseResolved(trx, { kind: 'network.cleared', ...common, ...clearedAlert(subject) })
      else if (subject.added.length > 0) {
        const phase = ofList(open).length === 0 ? ('open' as const) : ('update' as const)
        await raiseAlert(trx, { kind: 'network.listed', severity: 'error', phase, ...common, ...foundAlert(subject) }) // prettier-ignore
      }
    }
    await notifyChange(trx, workspaceId, 'attacks', id)
  })
}

/** As the database writes a network. */
function withLength(entry: string): string {
  return entry.includes('/') ? entry : `${entry}/${entry.includes(':') ? 128 : 32}`
}
