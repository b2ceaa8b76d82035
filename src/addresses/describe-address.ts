import ipaddr from 'ipaddr.js'
import type { AddressReporting } from '../abuse/lookup/address-reporting.ts'
import type { AddressDelisting } from '../delisting/delistings.sql.ts'
import type { AddressUse } from '../dmarc/sources/address-use.sql.ts'
import { invalidField } from '../errors.ts'
import { hasScope, type Module as ApiModule, type Scope } from '../http/access.ts'
import type { AddressMonitoring } from '../monitoring/list/address-monitoring.ts'
import { parseAddress } from '../net/address.ts'
import { findNextSteps, isOwnAddress } from './next-steps.ts'

/** An address, and the addresses that it stands for: itself, or its /64. */
export type AddressRange = { ip: string; key: string; first: string; last: string }

type Part<T> = (workspaceId: string, range: AddressRange) => Promise<T>

/** What each module knows of an address, from its own tables. */
export type AddressReaders = {
  sends: Part<AddressUse[]>
  monitoring: Part<AddressMonitoring>
  delistings: Part<AddressDelisting[]>
  reporting: Part<AddressReporting>
}

const IPV6_BITS = 64

/**
 * Reads an address as people type it; an IPv4 address written as IPv6 is that IPv4 address.
 * @throws Fault `invalid_request`
 */
export function readRange(text: string): AddressRange {
  const parsed = parseAddress(text.trim())
  if (!parsed) {
    const message = 'is not an IP address'
    throw invalidField('ip', message, `“${text}”`)
  }
  const address = ipaddr.process(parsed.address)
  const ip = address.toString()
  if (address.kind() === 'ipv4') return { ip, key: ip, first: ip, last: ip }
  const bytes = address.toByteArray()
  const fill = (byte: number) =>
    ipaddr.fromByteArray(bytes.map((one, index) => (index < IPV6_BITS / 8 ? one : byte))).toString()
  return { ip, key: `${fill(0)}/${IPV6_BITS}`, first: fill(0), last: fill(0xff) }
}

/** Joins what the modules know, as far as the caller may read it. */
export async function describeAddress(
  readers: AddressReaders,
  { workspaceId, scopes }: { workspaceId: string; scopes: Scope[] | null },
  range: AddressRange,
) {
  const read = <T>(module: ApiModule, part: Part<T>): Promise<T | null> =>
    hasScope(scopes, module, 'read') ? part(workspaceId, range) : Promise.resolve(null)
  const [sends, monitoring, delistings, reporting] = await Promise.all([
    read('dmarc', readers.sends),
    read('monitoring', readers.monitoring),
    read('delisting', readers.delistings),
    read('attacks', readers.reporting),
  ])
  const { ban, reports, allowed, server, watched, contact } = reporting?.own ?? {}
  const fleet = reporting && {
    ban: ban ?? null,
    reports: reports ?? [],
    allowed: allowed ?? null,
    server: server ?? null,
  }
  const known = {
    ip: range.ip,
    network: range.key,
    system: reporting?.system ?? null,
    abuseContact: contact ?? null,
    sends,
    hosts: monitoring?.hosts ?? null,
    listings: monitoring?.listings ?? null,
    delistings,
    reports: reporting?.reports ?? null,
    fleet,
    watchedNetworks: reporting && (watched ?? []),
  }
  const isYours = isOwnAddress(known)
  return { ...known, isYours, next: findNextSteps(known, isYours) }
}
