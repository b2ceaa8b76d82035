import { isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'

/**
 * A network as numbers. IPv6 has its upper 64 bits only, as everywhere in attack reporting: `bits`
 * is at most 32 or 64.
 */
export type Network = { family: 4 | 6; start: bigint; bits: number }

const WIDTH = { 4: 32, 6: 64 } as const

/** Parses `192.0.2.0/24`, or a single address; null for anything else, and for set host bits. */
export function parseNetwork(text: string): Network | null {
  const slash = text.indexOf('/')
  const address = slash === -1 ? text : text.slice(0, slash)
  const length = slash === -1 ? null : text.slice(slash + 1)
  if (length !== null && !/^(0|[1-9]\d{0,2})$/.test(length)) return null
  if (isIPv4(address)) return networkAt(4, ipv4Number(address), length === null ? 32 : +length, 32)
  if (!isIPv6(address) || address.includes('%')) return null
  return networkAt(6, upperBits(address), length === null ? 128 : +length, 128)
}

function networkAt(family: 4 | 6, start: bigint, length: number, longest: number): Network | null {
  if (length > longest) return null
  const bits = Math.min(length, WIDTH[family])
  const network = { family, start, bits }
  return (start & (sizeOf(network) - 1n)) === 0n ? network : null
}

function ipv4Number(address: string): bigint {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
  return BigInt(((a << 24) | (b << 16) | (c << 8) | d) >>> 0)
}

function upperBits(address: string): bigint {
  const { parts } = ipaddr.parse(address) as ipaddr.IPv6
  return parts.slice(0, 4).reduce((sum, part) => (sum << 16n) | BigInt(part), 0n)
}

/** By the number of bits that differ in a network. */
const SIZES = Array.from({ length: 65 }, (_, free) => 1n << BigInt(free))

/** The number of addresses in a network; of IPv6, of its /64. */
export function sizeOf({ family, bits }: Pick<Network, 'family' | 'bits'>): bigint {
  return SIZES[WIDTH[family] - bits] ?? 0n
}

/** Writes a network as people do: a single IPv4 address without its length. */
export function formatNetwork({ family, start, bits }: Network): string {
  if (family === 4) {
    const number = Number(start)
    const octets = [number >>> 24, (number >>> 16) & 255, (number >>> 8) & 255, number & 255]
    return bits === 32 ? octets.join('.') : `${octets.join('.')}/${bits}`
  }
  const parts = [48n, 32n, 16n, 0n].map((shift) => Number((start >> shift) & 0xffffn))
  return `${new ipaddr.IPv6([...parts, 0, 0, 0, 0]).toString()}/${bits}`
}

const GLOBAL_UNICAST: Network = { family: 6, start: 0x2000n << 48n, bits: 3 }

/** The ranges that the library calls anything else than unicast. */
const SPECIAL_NETWORKS: readonly Network[] = [
  ...specialRangesOf(new ipaddr.IPv4([0, 0, 0, 0])),
  // The others are not global unicast anyway; some are addresses of one host in `::/64`.
  ...specialRangesOf(new ipaddr.IPv6([0, 0, 0, 0, 0, 0, 0, 0])).filter((special) =>
    contains(GLOBAL_UNICAST, special),
  ),
]

type SpecialRange = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** The library has a range, or several, by name. Its types lack them. */
function specialRangesOf(address: ipaddr.IPv4 | ipaddr.IPv6): Network[] {
  const { SpecialRanges: ranges } = address as unknown as {
    SpecialRanges: Record<string, SpecialRange | SpecialRange[]>
  }
  return Object.values(ranges)
    .flatMap((one) => (Array.isArray(one[0]) ? (one as SpecialRange[]) : [one as SpecialRange]))
    .map(([start, length]) => {
      const family = start.kind() === 'ipv4' ? (4 as const) : (6 as const)
      const bits = Math.min(length, WIDTH[family])
      const number = family === 4 ? ipv4Number(start.toString()) : upperBits(start.toString())
      return { family, start: number & ~(sizeOf({ family, bits }) - 1n), bits }
    })
}

/** Whether every address of a network is a public one. */
export function isPublicNetwork(network: Network): boolean {
  if (network.family === 6 && !contains(GLOBAL_UNICAST, network)) return false
  return !SPECIAL_NETWORKS.some((special) => overlap(special, network))
}

export function contains(outer: Network, inner: Network): boolean {
  return outer.bits <= inner.bits && overlap(outer, inner)
}

/** Of two networks that overlap, one contains the other. */
export function overlap(a: Network, b: Network): boolean {
  if (a.family !== b.family) return false
  const shift = BigInt(WIDTH[a.family] - Math.min(a.bits, b.bits))
  return a.start >> shift === b.start >> shift
}
