import type { Kysely } from 'kysely'
import { Fault } from '../errors.ts'
import type { DB } from '../store/tables.ts'
import { readNetwork } from '../protocols/networks/read-network.ts'
import { changeFleet, unbanLocked } from './bans/bans.ts'
import { MAX_ALLOWED_NETWORKS } from './limits.ts'
import { deleteAllowed, insertAllowed, listAllowed, type AllowedNetwork } from './fleet.sql.ts'

/**
 * Adds a network that is never banned, and ends the bans in it.
 * @throws Fault `invalid_request`, `conflict` when it is there already or there are too many
 */
export async function allowNetwork(
  db: Kysely<DB>,
  workspaceId: string,
  { cidr, label }: { cidr: string; label: string },
  now: number,
): Promise<AllowedNetwork> {
  const network = readNetwork(cidr)
  return changeFleet(db, workspaceId, async (trx, fleet) => {
    if ((await listAllowed(trx, workspaceId)).length >= MAX_ALLOWED_NETWORKS)
      throw new Fault(
        'conflict',
        `An allowlist has up to ${MAX_ALLOWED_NETWORKS.toLocaleString('en')} networks. Remove one first.`,
      )
    const row = await insertAllowed(trx, { workspaceId, network, label })
    if (!row) throw new Fault('conflict', `${network} is already on the allowlist.`)
    await unbanLocked(trx, fleet, { overlapping: network }, { by: 'allowlist', network }, now)
    return row
  })
}

/** @throws Fault `not_found` also for another workspace's network */
export async function removeAllowed(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
): Promise<void> {
  if (!(await deleteAllowed(db, workspaceId, id)))
    throw new Fault('not_found', 'The network was not found on the allowlist.')
}
