import type { Kysely, Transaction } from 'kysely'
import type { Logger } from '../../log.ts'
import { raiseAlert, raiseResolved } from '../../alerts/raise.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { formatNetwork, parseNetwork } from '../../protocols/networks/network.ts'
import { listOverlapping } from '../../protocols/networks/network-set.ts'
import { findPublicFeed } from '../feed-catalogue.ts'
import type { FeedInUse, PublicFeeds } from '../public-feeds.ts'
import { listFeeds } from '../public-feeds.sql.ts'
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
  type WatchedNetwork,
} from './watched-networks.sql.ts'

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
async function checkNetwork(
  deps: WatchDeps,
  watched: WatchedNetwork,
  enabled: ReadonlySet<string>,
): Promise<void> {
  const feeds = deps.publicFeeds.listInUse()
  const found = await findEntries(deps, watched, feeds)
  const known = new Set([SHARED_LIST, ...feeds.map(({ feed }) => feed.id)])
  const at = new Date(deps.clock())
  await deps.db.transaction().execute(async (trx) => {
    if (!(await lockWatched(trx, watched.id, at))) return
    const open = await listOpen(trx, watched.id)
    const [before, now] = [new Set(open.map(keyOf)), new Set(found.map(keyOf))]
    const added = found.filter((finding) => !before.has(keyOf(finding)))
    const gone = open.filter((row) =>
      known.has(row.list) ? !now.has(keyOf(row)) : !enabled.has(row.list),
    )
    await insertFindings(trx, watched.id, added, at)
    await resolveFindings(trx, gone.map(({ id }) => id), at) // prettier-ignore
    for (const list of new Set([...added, ...gone].map((finding) => finding.list)))
      await reportChange(trx, { watched, list, at }, { open, added, gone })
    if (watched.checkedAt === null || added.length + gone.length > 0)
      await notifyChange(trx, watched.workspaceId, 'attacks', watched.id)
  })
}

async function findEntries(
  { db }: WatchDeps,
  { network: text }: WatchedNetwork,
  feeds: FeedInUse[],
): Promise<Finding[]> {
  const network = parseNetwork(text)
  if (!network) return []
  const listed = await listListedIn(db, text, MAX_FINDINGS)
  const inFeeds = feeds.flatMap(({ feed, set }) =>
    listOverlapping(set, network, MAX_FINDINGS).map((one) => ({
      list: feed.id,
      entry: withLength(formatNetwork(one)),
    })),
  )
  return [...listed.map((entry) => ({ list: SHARED_LIST, entry: withLength(entry) })), ...inFeeds]
}

const keyOf = ({ list, entry }: Finding) => `${list} ${withLength(entry)}`

type Change = { watched: WatchedNetwork; list: string; at: Date }
type Changes = { open: Finding[]; added: Finding[]; gone: Finding[] }

/** All findings of one list in one network are one incident. */
async function reportChange(
  trx: Transaction<DB>,
  { watched, list, at }: Change,
  changes: Changes,
): Promise<void> {
  const countOf = (findings: Finding[]) => findings.filter((one) => one.list === list).length
  const [open, gone] = [countOf(changes.open), countOf(changes.gone)]
  const added = changes.added.filter((one) => one.list === list).map(({ entry }) => entry)
  const subject = { watched, feed: findPublicFeed(list), added }
  const alert = {
    workspaceId: watched.workspaceId,
    key: `network ${watched.id} ${list} ${at.toISOString()}`,
    incident: incidentOf(watched.id, list),
    path: `/attacks/networks/${watched.id}`,
    objects: [watched.network],
    at,
  }
  if (open - gone + added.length === 0)
    await raiseResolved(trx, { kind: 'network.cleared', ...alert, ...clearedAlert(subject) })
  else if (added.length > 0) {
    const phase = open === 0 ? ('open' as const) : ('update' as const)
    const found = { kind: 'network.listed', severity: 'error' as const, phase }
    await raiseAlert(trx, { ...found, ...alert, ...foundAlert(subject) })
  }
}

/** As the database writes a network. */
function withLength(entry: string): string {
  return entry.includes('/') ? entry : `${entry}/${entry.includes(':') ? 128 : 32}`
}
