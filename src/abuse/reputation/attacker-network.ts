import ipaddr from 'ipaddr.js'
import { networkOf } from '../../protocols/networks/read-network.ts'
import type { Systems } from './systems.ts'

/** The network that an attacker belongs to. */
export type AttackerNetwork = {
  /** `AS64500`, or the IPv4 /16 or IPv6 /32 around an address that no known system announces. */
  network: string
  /** The name of the system; empty where the table has none. */
  name: string
}

const MAX_NAME_CHARS = 100

/** Finds the network of an attacker, given the key of its address. */
export function attackerNetworkOf(systems: Systems, key: string): AttackerNetwork {
  const address = key.split('/')[0] ?? key
  const system = systems.systemOf?.(address) ?? numbered(systems.find(address))
  if (system)
    return { network: `AS${system.number}`, name: system.name.slice(0, MAX_NAME_CHARS).trim() }
  const parsed = ipaddr.parse(address)
  return { network: networkOf(parsed, parsed.kind() === 'ipv4' ? 16 : 32), name: '' }
}

function numbered(number: number | null): { number: number; name: string } | null {
  return number === null ? null : { number, name: '' }
}
