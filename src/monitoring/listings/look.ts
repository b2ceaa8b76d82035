import type { Resolver } from '../../net/dns.ts'
import type { Blocklist } from '../../protocols/dnsbl/catalogue.ts'
import type { Blocklists, Listing } from '../../protocols/dnsbl/blocklists.ts'
import { sweepAddress } from '../../protocols/dnsbl/sweep-address.ts'
import type { Plan } from '../looks/plan.ts'
import type { ClaimedHost } from '../looks/store.ts'
import { isGrave, modeOf } from '../modes/modes.ts'
import { findAddresses, type FoundAddresses } from './addresses.ts'
import type { AddressRow } from './store.ts'

export type ListingDeps = {
  /** For the names of hosts. */
  resolver: Resolver
  blocklists: Blocklists
  /** Waits for one's turn to ask the lists about an address. */
  pace: (signal: AbortSignal) => Promise<void>
}

export type ListingLook = FoundAddresses & {
  /** What the lists say, by address; only those that were asked. */
  told: Map<string, Listing[]>
  /** The lists that count for this host. */
  lists: readonly Blocklist[]
}

/** The fact of an address on a list. */
export function subjectOf(ip: string, zone: string): string {
  return `${ip} ${zone}`
}

/** Asks the lists that are due about each address of a host. */
export async function lookAtListings(
  host: ClaimedHost,
  plan: Plan,
  { resolver, blocklists, pace }: ListingDeps,
  signal: AbortSignal,
): Promise<ListingLook> {
  const lists = blocklists.lists.filter((list) => modeOf(list, host.lists, host.choices) !== 'mute')
  const found = await findAddresses(host, resolver, signal)
  const told = new Map<string, Listing[]>()
  for (const ip of found.ips) {
    const known = host.addresses.find((address) => address.ip === ip)
    const asked = lists.filter((list) => isDue(list, ip, host, known, plan))
    if (asked.length === 0) continue
    await pace(signal)
    await proveAnew(
      asked.filter((list) => isSuspected(host, ip, list)),
      blocklists,
    )
    told.set(ip, await sweepAddress(ip, blocklists, signal, { lists: asked, fresh: true }))
  }
  return { ...found, told, lists }
}

function isDue(list: Blocklist, ip: string, host: ClaimedHost, known: AddressRow | undefined, plan: Plan): boolean {
  if (!known || plan.full || (plan.grave && isGrave(list))) return true
  return plan.again && (isSuspected(host, ip, list) || known.unknown.includes(list.zone))
}

function isSuspected({ facts }: ClaimedHost, ip: string, { zone }: Blocklist): boolean {
  const subject = subjectOf(ip, zone)
  return facts.some((fact) => fact.kind === 'blacklist' && fact.suspect !== null && fact.subject === subject)
}

/** Before a change is believed the list has to show once more that it tells listed from not listed. */
async function proveAnew(lists: readonly Blocklist[], { health }: Blocklists): Promise<void> {
  if (lists.length > 0) await health.refresh(lists)
}
