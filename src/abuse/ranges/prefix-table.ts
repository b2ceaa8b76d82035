import ipaddr from 'ipaddr.js'

/** A set of networks with fast lookup of addresses. */
export type PrefixTable = { has(address: string): boolean }

type Networks = { bits: number; prefixes: Set<number | bigint> }[]

/**
 * Creates a table with one set per prefix length.
 * @param cidrs `address/bits`; of IPv6 the first 64 bits count, as in scores
 */
export function createPrefixTable(cidrs: string[]): PrefixTable {
  const tables = {
    ipv4: new Map<number, Set<number | bigint>>(),
    ipv6: new Map<number, Set<number | bigint>>(),
  }
  for (const cidr of cidrs) {
    const [address, length] = ipaddr.parseCIDR(cidr)
    const bits = Math.min(length, 64)
    const table = tables[address.kind()]
    const prefixes = table.get(bits) ?? new Set()
    table.set(bits, prefixes.add(prefixOf(address, bits)))
  }
  const networks = { ipv4: lengthsOf(tables.ipv4), ipv6: lengthsOf(tables.ipv6) }
  return {
    has(text) {
      const kind = text.includes(':') ? 'ipv6' : 'ipv4'
      if (networks[kind].length === 0) return false
      const address = kind === 'ipv4' ? readIPv4(text) : ipaddr.parse(text.split('/', 1)[0] ?? '')
      return networks[kind].some(({ bits, prefixes }) => prefixes.has(prefixOf(address, bits)))
    },
  }
}

function lengthsOf(table: Map<number, Set<number | bigint>>): Networks {
  return [...table].map(([bits, prefixes]) => ({ bits, prefixes }))
}

/** The library’s parser is slow, and every report looks up several tables. */
const readIPv4 = (text: string) => new ipaddr.IPv4(text.split('.').map(Number))

/** The first bits as a number: of IPv4 all 32, of IPv6 the upper 64, the others zero. */
function prefixOf(address: ipaddr.IPv4 | ipaddr.IPv6, bits: number): number | bigint {
  if (address instanceof ipaddr.IPv4) {
    const [a = 0, b = 0, c = 0, d = 0] = address.octets
    return bits === 0 ? 0 : (((a << 24) | (b << 16) | (c << 8) | d) & (-1 << (32 - bits))) >>> 0
  }
  const [a = 0, b = 0, c = 0, d = 0] = address.parts
  const upper = (BigInt(((a << 16) | b) >>> 0) << 32n) | BigInt(((c << 16) | d) >>> 0)
  return (upper >> BigInt(64 - bits)) << BigInt(64 - bits)
}
