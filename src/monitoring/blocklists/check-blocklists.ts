import type { Resolver } from '../../net/dns.ts'
import type { Blocklist } from '../../protocols/dnsbl/blocklist-catalogue.ts'
import type { Blocklists, Listing } from '../../protocols/dnsbl/blocklists.ts'
import { sweepAddress } from '../../protocols/dnsbl/sweep-address.ts'
import type { CheckPlan } from '../checks/plan-checks.ts'
import type { ClaimedHost } from '../checks/host-checks.sql.ts'
import { isImportant, modeOf } from './modes.ts'
import { findHostAddresses, type FoundAddresses } from './find-addresses.ts'
import type { HostAddressRow } from './listings.sql.ts'

export type ListingDeps = {
  /** Resolves the names of hosts. */
  resolver: Resolver
  blocklists: Blocklists
  /** Resolves when the blocklists may be queried about another address. */
  waitForTurn: (signal: AbortSignal) => Promise<void>
}

export type ListingObservations = FoundAddresses & {
  /** Results of the queried blocklists, by address. */
  answers: Map<string, Listing[]>
  /** The blocklists that are not muted for this host. */
  lists: readonly Blocklist[]
  /** The zones of those that refuse the resolver, whatever the host. */
  refusing: ReadonlySet<string>
}

/** Subject of the fact about an address on a blocklist. */
export function subjectOf(ip: string, zone: string): string {
  return `${ip} ${zone}`
}

/** Queries the blocklists that are due about each address of a host. */
export async function checkListings(
  host: ClaimedHost,
  plan: CheckPlan,
  { resolver, blocklists, waitForTurn }: ListingDeps,
  signal: AbortSignal,
): Promise<ListingObservations> {
  const lists = blocklists.lists.filter(
    (list) => modeOf(list, host.lists, host.workspaceModes) !== 'mute',
  )
  const found = await findHostAddresses(host, resolver, signal)
  const answers = new Map<string, Listing[]>()
  for (const ip of found.ips) {
    const known = host.addresses.find((address) => address.ip === ip)
    const due = lists.filter((list) => isDue(list, ip, host, known, plan))
    if (due.length === 0) continue
    await waitForTurn(signal)
    await recheckHealth(
      due.filter((list) => isUnconfirmed(host, ip, list)),
      blocklists,
    )
    answers.set(ip, await sweepAddress(ip, blocklists, signal, { lists: due, fresh: true }))
  }
  return { ...found, answers, lists, refusing: await findRefusing(lists, blocklists) }
}

function isDue(
  list: Blocklist,
  ip: string,
  host: ClaimedHost,
  known: HostAddressRow | undefined,
  plan: CheckPlan,
): boolean {
  if (!known || plan.allLists || (plan.importantLists && isImportant(list))) return true
  return plan.recheck && (isUnconfirmed(host, ip, list) || known.unknown.includes(list.zone))
}

function isUnconfirmed({ facts }: ClaimedHost, ip: string, { zone }: Blocklist): boolean {
  const subject = subjectOf(ip, zone)
  return facts.some(
    (fact) => fact.kind === 'blacklist' && fact.suspect !== null && fact.subject === subject,
  )
}

async function findRefusing(
  lists: readonly Blocklist[],
  { health }: Blocklists,
): Promise<Set<string>> {
  const known = await Promise.all(
    lists.map(async (list) => ({ ...list, ...(await health.healthOf(list)) })),
  )
  return new Set(known.flatMap(({ zone, state }) => (state === 'refusing' ? zone : [])))
}

/** Before a change counts, its blocklist must answer its test addresses correctly again. */
async function recheckHealth(lists: readonly Blocklist[], { health }: Blocklists): Promise<void> {
  if (lists.length > 0) await health.refresh(lists)
}
