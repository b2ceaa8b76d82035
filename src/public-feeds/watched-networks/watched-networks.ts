import type { Kysely } from 'kysely'
import { closeIncident } from '../../alerts/incidents.sql.ts'
import { Fault, invalidField } from '../../errors.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { isPublicNetwork, parseNetwork } from '../../protocols/networks/network.ts'
import { findPublicFeed, FEED_IDS, removalUrlOf } from '../feed-catalogue.ts'
import { readNetwork } from '../../protocols/networks/read-network.ts'
import { SHARED_LIST } from './check-network.ts'
import { MAX_NETWORKS, WIDEST } from './limits.ts'
import { addressOf, incidentOf } from './messages.ts'
import {
  countWatched,
  deleteWatched,
  findWatched,
  insertWatched,
  listFindings,
  type FindingRow,
  type WatchedNetwork,
} from './watched-networks.sql.ts'

/**
 * Watches a network from now on. No proof is needed, because everything about it is public.
 * @throws Fault `invalid_request`, `conflict`
 */
export async function watchNetwork(
  db: Kysely<DB>,
  workspaceId: string,
  { cidr, label }: { cidr: string; label: string },
): Promise<WatchedNetwork> {
  const network = readNetwork(cidr)
  const parsed = parseNetwork(network)
  if (!parsed || !isPublicNetwork(parsed)) throw invalid(network, 'is not a public network')
  const widest = WIDEST[parsed.family]
  if (parsed.bits < widest) throw invalid(network, `is wider than /${widest}`)
  return db.transaction().execute(async (trx) => {
    if ((await countWatched(trx, workspaceId)) >= MAX_NETWORKS)
      throw new Fault('conflict', `A workspace can watch up to ${MAX_NETWORKS} networks. Remove one first.`) // prettier-ignore
    const row = await insertWatched(trx, { workspaceId, network, label })
    if (!row) throw new Fault('conflict', `${network} is already watched.`)
    await notifyChange(trx, workspaceId, 'attacks', row.id)
    return row
  })
}

/** @throws Fault `not_found` */
export async function unwatchNetwork(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await deleteWatched(trx, workspaceId, id))) throw notFound()
    for (const list of [SHARED_LIST, ...FEED_IDS])
      await closeIncident(trx, workspaceId, incidentOf(id, list))
    await notifyChange(trx, workspaceId, 'attacks', id)
  })
}

/** Describes a network with its findings. @throws Fault `not_found` */
export async function describeWatched(
  db: Kysely<DB>,
  { workspaceId, id }: { workspaceId: string; id: string },
  slice: { limit: number; offset: number },
) {
  const network = await findWatched(db, workspaceId, id)
  if (!network) throw notFound()
  const { rows, total } = await listFindings(db, id, slice)
  return { network, findings: rows.map(describeFinding), total }
}

function describeFinding({ list, entry, ...row }: FindingRow) {
  const feed = findPublicFeed(list)
  const shown = addressOf(entry)
  return {
    ...row,
    list,
    name: feed?.name ?? null,
    entry: shown,
    removalUrl: feed ? removalUrlOf(feed, shown.split('/', 1)[0] ?? '') : null,
  }
}

function invalid(network: string, message: string): Fault {
  return invalidField('cidr', message, `“${network}”`)
}

const notFound = () => new Fault('not_found', 'The network was not found.')
