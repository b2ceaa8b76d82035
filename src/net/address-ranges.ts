import ipaddr from 'ipaddr.js'

/** Addresses as numbers, IPv6 behind IPv4, so that one order holds for both. */
export type AddressRange = { first: bigint; last: bigint }

const IPV6_START = 1n << 32n

export const EVERY_ADDRESS: AddressRange = { first: 0n, last: IPV6_START + (1n << 128n) - 1n }

/** The addresses of a network, whichever of them is given. */
export function rangeOfNetwork(address: string, prefix: number): AddressRange {
  const bytes = ipaddr.parse(address).toByteArray()
  const number = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  const size = 1n << BigInt(bytes.length * 8 - prefix)
  const first = (bytes.length === 4 ? 0n : IPV6_START) + number - (number % size)
  return { first, last: first + size - 1n }
}

export function countAddresses(ranges: readonly AddressRange[], family: 4 | 6): bigint {
  return ranges
    .filter(({ first }) => first < IPV6_START === (family === 4))
    .reduce((sum, { first, last }) => sum + last - first + 1n, 0n)
}

/** A set of addresses. */
export type AddressSet = {
  /** Removes addresses. @returns those that were in the set */
  take: (range: AddressRange) => AddressRange[]
  overlaps: (range: AddressRange) => boolean
  copy: () => AddressSet
}

/** @param initial ranges that do not overlap, of one family each */
export function createAddressSet(initial: readonly AddressRange[]): AddressSet {
  const ranges = initial.toSorted((one, other) => (one.first < other.first ? -1 : 1))

  /** The index of the first range that ends at this address or behind it. */
  function indexAt(address: bigint): number {
    let [low, high] = [0, ranges.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ranges[middle]?.last ?? 0n) < address) low = middle + 1
      else high = middle
    }
    return low
  }

  return {
    take({ first, last }) {
      const start = indexAt(first)
      const taken: AddressRange[] = []
      const left: AddressRange[] = []
      for (
        let range = ranges[start];
        range && range.first <= last;
        range = ranges[start + taken.length]
      ) {
        taken.push({
          first: range.first < first ? first : range.first,
          last: range.last > last ? last : range.last,
        })
        if (range.first < first) left.push({ first: range.first, last: first - 1n })
        if (range.last > last) left.push({ first: last + 1n, last: range.last })
      }
      ranges.splice(start, taken.length, ...left)
      return taken
    },
    overlaps({ first, last }) {
      const range = ranges[indexAt(first)]
      return range !== undefined && range.first <= last
    },
    copy: () => createAddressSet(ranges),
  }
}
