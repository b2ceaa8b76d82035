import { parseAddress } from '../net/address.ts'
import type { Db } from '../store/database.ts'
import { listWatchedCidrs } from '../public-feeds/watched-networks/watched-networks.sql.ts'
import { createPrefixTable } from '../abuse/ranges/prefix-table.ts'
import type { ServiceAddresses } from './service-addresses.ts'
import { listAllowed, listMemberAddresses, listServerAddresses } from './fleet.sql.ts'

/** Why an address is never banned. */
type ProtectionReason =
  | 'on the allowlist of the workspace'
  | 'the address of a server of the workspace'
  | 'an address from which a member is signed in'
  | 'an address of this service'
  | 'on the allowlist of this service'
  | 'part of a network that many services depend on'

export type Protection = {
  /** The reason why an address (IPv4, or IPv6 /64) is never banned, if there is one. */
  reasonFor(address: string): ProtectionReason | null
}

/** The ranges of the installation; see `ranges/ranges.ts`. */
export type InstalledRanges = {
  isExempt(address: string): boolean
  isWellKnown(address: string): boolean
  listProtected(): string[]
}

export type ProtectionDeps = { ranges: InstalledRanges; serviceAddresses: ServiceAddresses }

/** Loads everything that must never be on the list of a workspace. */
export async function loadProtection(
  db: Db,
  workspaceId: string,
  { ranges, serviceAddresses }: ProtectionDeps,
): Promise<Protection> {
  const allowed = await listAllowed(db, workspaceId)
  const members = await listMemberAddresses(db, workspaceId)
  const servers = await listServerAddresses(db, workspaceId)
  const tables = {
    allowed: createPrefixTable(allowed.map(({ network }) => network)),
    servers: tableOf(servers),
    members: tableOf(members),
    service: tableOf(serviceAddresses.list()),
  }
  return {
    reasonFor(address) {
      if (tables.allowed.has(address)) return 'on the allowlist of the workspace'
      if (tables.servers.has(address)) return 'the address of a server of the workspace'
      if (tables.members.has(address)) return 'an address from which a member is signed in'
      if (tables.service.has(address)) return 'an address of this service'
      if (ranges.isExempt(address)) return 'on the allowlist of this service'
      return ranges.isWellKnown(address) ? 'part of a network that many services depend on' : null
    },
  }
}

/** Lists all networks that exports of a workspace must never contain: its own ones, too. */
export async function listProtectedNetworks(
  db: Db,
  workspaceId: string,
  { ranges, serviceAddresses }: ProtectionDeps,
): Promise<string[]> {
  const allowed = await listAllowed(db, workspaceId)
  const members = await listMemberAddresses(db, workspaceId)
  const servers = await listServerAddresses(db, workspaceId)
  return [
    ...allowed.map(({ network }) => network),
    ...(await listWatchedCidrs(db, workspaceId)),
    ...[...members, ...servers, ...serviceAddresses.list()].flatMap(networksOf),
    ...ranges.listProtected(),
  ]
}

const tableOf = (addresses: string[]) => createPrefixTable(addresses.flatMap(networksOf))

/** A single address as a network; none for a text that is no address. */
function networksOf(text: string): string[] {
  const parsed = parseAddress(text)
  if (!parsed) return []
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(text)?.[1]
  if (mapped) return [`${mapped}/32`]
  return [`${parsed.address}/${parsed.family === 4 ? 32 : 128}`]
}
