import type { Blocklists } from '../../protocols/dnsbl/blocklists.ts'
import type { Db } from '../../store/database.ts'
import { ipOf } from '../blocklists/evaluate-blocklists.ts'
import { listFacts } from '../facts/host-facts.sql.ts'
import { presentListing } from '../host-view.ts'
import { listHostsAt } from './hosts-at-address.sql.ts'

export type AddressMonitoring = Awaited<ReturnType<typeof describeMonitoring>>

/** The monitored hosts of a workspace at a network of addresses, and their listings there. */
export async function describeMonitoring(
  { db, blocklists }: { db: Db; blocklists: Pick<Blocklists, 'lists'> },
  workspaceId: string,
  network: string,
) {
  const hosts = await listHostsAt(db, workspaceId, network)
  if (hosts.length === 0) return { hosts: [], listings: [] }
  const facts = await listFacts(
    db,
    hosts.map(({ id }) => id),
  )
  const addresses = new Set(hosts.flatMap((host) => host.addresses))
  const listings = facts
    .filter((fact) => fact.kind === 'blacklist' && addresses.has(ipOf(fact)))
    .flatMap((fact) => presentListing(fact, blocklists.lists))
  // Hosts with the same address have the same listings, from their own checks.
  const first = new Map<string, (typeof listings)[number]>()
  for (const listing of listings) {
    const key = `${listing.dnsbl} ${listing.ip}`
    const known = first.get(key)
    if (!known || listing.since < known.since) first.set(key, listing)
  }
  return { hosts, listings: [...first.values()].toSorted((a, b) => +a.since - +b.since) }
}
