import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { claimDueRows, claimWhere, isFree, type DueRows } from '../../store/due-rows.ts'
import { mapResponsible } from '../../store/responsible.ts'
import { updateRows } from '../../store/row.ts'
import { listFacts, type FactRow } from '../facts/host-facts.sql.ts'
import {
  listAddresses,
  type HostAddressRow,
  listWorkspaceModes,
} from '../blocklists/listings.sql.ts'
import type { ListModes } from '../blocklists/modes.ts'
import { HOST_LEASE_SECONDS } from '../limits.ts'
import { HOST, type HostRow } from '../hosts.sql.ts'

/** A host that one check has claimed, with its addresses, facts and the workspace’s modes. */
export type ClaimedHost = HostRow & {
  /** The account that answers for its workspace. */
  responsibleId: string
  addresses: HostAddressRow[]
  facts: FactRow[]
  workspaceModes: ListModes
}

/** Hosts whose check is due. */
export const DUE_HOSTS: DueRows = {
  table: 'monitored_host',
  dueAt: 'due_at',
  claimedUntil: 'claimed_until',
  leaseSeconds: HOST_LEASE_SECONDS,
  claims: 'run',
}

/**
 * Claims due hosts: one per account in turn, those that have waited longest first.
 * @param except accounts at their limit
 */
export async function claimDue(
  db: Db,
  limit: number,
  leaseSeconds: number,
  except: string[] = [],
): Promise<ClaimedHost[]> {
  const claim = claimDueRows<HostRow>(DUE_HOSTS, { limit, except, leaseSeconds }, HOST)
  const { rows } = await claim.execute(db)
  return withDetails(db, rows)
}

/**
 * Claims one host, due or not; undefined when another check has claimed it, or when it was deleted.
 */
export async function claimHost(
  db: Db,
  id: string,
  leaseSeconds: number,
): Promise<ClaimedHost | undefined> {
  const isWanted = sql`r.id = ${id} and ${isFree(DUE_HOSTS)}`
  const { rows } = await claimWhere<HostRow>(DUE_HOSTS, { leaseSeconds }, isWanted, HOST).execute(
    db,
  )
  return (await withDetails(db, rows))[0]
}

async function withDetails(db: Db, hosts: HostRow[]): Promise<ClaimedHost[]> {
  if (hosts.length === 0) return []
  const ids = hosts.map(({ id }) => id)
  const workspaces = [...new Set(hosts.map(({ workspaceId }) => workspaceId))]
  const [addresses, facts, modes, responsible] = await Promise.all([
    listAddresses(db, ids),
    listFacts(db, ids),
    listWorkspaceModes(db, workspaces),
    mapResponsible(db, workspaces),
  ])
  const [addressesOf, factsOf] = [Map.groupBy(addresses, byHost), Map.groupBy(facts, byHost)]
  return hosts.map((host) => ({
    ...host,
    responsibleId: responsible.get(host.workspaceId) ?? host.workspaceId,
    addresses: addressesOf.get(host.id) ?? [],
    facts: factsOf.get(host.id) ?? [],
    workspaceModes: modes.get(host.workspaceId) ?? {},
  }))
}

function byHost({ hostId }: { hostId: string }): string {
  return hostId
}

/** Releases a claimed host unchanged. */
export async function releaseHost(db: Db, { id, run }: HostRow): Promise<void> {
  await updateRows(db, 'monitoredHost', { id, run }, { claimedUntil: null })
}

type CheckOutcome = Pick<
  HostRow,
  | 'status'
  | 'listedCount'
  | 'unknownCount'
  | 'totalChecked'
  | 'detail'
  | 'graveDueAt'
  | 'fullDueAt'
  | 'sideDueAt'
  | 'recheckAt'
> & { lastCheckAt: Date }

/**
 * Saves the outcome of a check and releases the host; false when another check has claimed it
 * meanwhile.
 */
export async function saveCheck(
  db: Db,
  { id, run }: HostRow,
  outcome: CheckOutcome,
): Promise<boolean> {
  return updateRows(
    db,
    'monitoredHost',
    { id, run },
    {
      ...outcome,
      claimedUntil: null,
      // Hosts that are older than these columns lack them; triggers keep them afterwards.
      recentStates: sql<string>`coalesce(recent_states, monitored_recent_states(id))`,
      firstCertificate: sql<string>`coalesce(first_certificate, monitored_first_certificate(id))`,
    },
  )
}
