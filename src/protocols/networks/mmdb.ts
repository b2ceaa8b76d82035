import ipaddr from 'ipaddr.js'

/**
 * A MaxMind DB (https://maxmind.github.io/MaxMind-DB/): a binary tree over the bits of addresses,
 * and the records of its leaves.
 */
export type Mmdb = {
  /** The record of an address; undefined when there is none, or when it is broken. */
  find(address: string): unknown
  /** Some of the records, at most `most`. */
  sample(most: number): unknown[]
}

const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')

/** Zero bytes between tree and data. */
const SEPARATOR_BYTES = 16

/** Maps in maps; a broken file may point to itself. */
const MAX_DEPTH = 16

export const isMmdb = (bytes: Buffer) => bytes.lastIndexOf(MARKER) >= 0

type Metadata = { node_count: number; record_size: number; ip_version: number }

/** @throws Error with the problem */
export function openMmdb(bytes: Buffer): Mmdb {
  const { node_count: nodes, record_size: size, ip_version: version } = metadataOf(bytes)
  const data = nodes * (size / 4) + SEPARATOR_BYTES
  if (data > bytes.length)
    throw new Error('the mmdb file is truncated: it is shorter than its tree.')

  /** Follows the address’s bits from node to node. A record beyond the last node points to data. */
  function recordOf(address: string): number {
    const bits = bitsOf(address, version)
    if (bits === null) return nodes
    let node = 0
    for (let n = 0; n < bits.length * 8 && node < nodes; n++) {
      const bit = ((bits[n >> 3] ?? 0) >> (7 - (n & 7))) & 1
      node = recordIn(bytes, node, bit, size)
    }
    return node
  }

  function valueOf(record: number): unknown {
    if (record <= nodes) return undefined
    try {
      return decode(bytes, data, data + record - nodes - SEPARATOR_BYTES, 0).value
    } catch {
      return undefined
    }
  }

  return {
    find: (address) => valueOf(recordOf(address)),
    sample(most) {
      const values: unknown[] = []
      for (let node = 0; node < nodes && values.length < most; node++)
        for (const bit of [0, 1]) {
          const record = recordIn(bytes, node, bit, size)
          if (record > nodes) values.push(valueOf(record))
        }
      return values
    },
  }
}

function metadataOf(bytes: Buffer): Metadata {
  const start = bytes.lastIndexOf(MARKER) + MARKER.length
  const { value } = decode(bytes, start, start, 0)
  const {
    node_count: nodes,
    record_size: size,
    ip_version: version,
  } = (value ?? {}) as Partial<Metadata>
  const isSound =
    Number.isSafeInteger(nodes) && [24, 28, 32].includes(size ?? 0) && [4, 6].includes(version ?? 0)
  if (!isSound) throw new Error('the metadata of the mmdb file is damaged.')
  return value as Metadata
}

/** In an IPv6 tree, IPv4 addresses are in ::/96; null where the tree has no such addresses. */
function bitsOf(address: string, version: number): number[] | null {
  const bytes = ipaddr.process(address).toByteArray()
  if (version === 4) return bytes.length === 4 ? bytes : null
  return bytes.length === 4 ? [...Array<number>(12).fill(0), ...bytes] : bytes
}

/** One of the two records of a node; of 28 bits the upper four share the byte in the middle. */
function recordIn(bytes: Buffer, node: number, bit: number, size: number): number {
  const at = node * (size / 4)
  if (size === 24) return bytes.readUIntBE(at + bit * 3, 3)
  if (size === 32) return bytes.readUInt32BE(at + bit * 4)
  const middle = bytes.readUInt8(at + 3)
  return bit === 0
    ? ((middle & 0xf0) << 20) | bytes.readUIntBE(at, 3)
    : ((middle & 0x0f) << 24) | bytes.readUIntBE(at + 4, 3)
}

type Decoded = { value: unknown; next: number }

const POINTER = 1

/** A field of the data section that begins at `base`. @throws Error when it is broken */
function decode(bytes: Buffer, base: number, at: number, depth: number): Decoded {
  if (depth > MAX_DEPTH) throw new Error('the mmdb file has circular pointers.')
  const control = bytes.readUInt8(at)
  let next = at + 1
  let type = control >> 5
  if (type === POINTER) return decodePointer(bytes, base, at, depth)
  if (type === 0) type = 7 + bytes.readUInt8(next++)
  let size = control & 31
  if (size > 28) {
    const extra = size - 28
    size = bytes.readUIntBE(next, extra) + ([0, 29, 285, 65_821][extra] ?? 0)
    next += extra
  }
  return decodeOf(type, size, { bytes, base, next, depth })
}

type Place = { bytes: Buffer; base: number; next: number; depth: number }

function decodeOf(type: number, size: number, place: Place): Decoded {
  const { bytes, next } = place
  switch (type) {
    case 2:
      return { value: bytesAt(place, size).toString('utf8'), next: next + size }
    case 3:
      return { value: bytes.readDoubleBE(next), next: next + 8 }
    case 5:
    case 6:
    case 8:
    case 9:
    case 10:
      return { value: Number(`0x0${bytesAt(place, size).toString('hex')}`), next: next + size }
    case 7:
      return decodeMap(size, place)
    case 11:
      return decodeArray(size, place)
    case 14:
      return { value: size !== 0, next }
    case 15:
      return { value: bytes.readFloatBE(next), next: next + 4 }
    default:
      return { value: bytesAt(place, size), next: next + size }
  }
}

function bytesAt({ bytes, next }: Place, size: number): Buffer {
  if (next + size > bytes.length) throw new Error('the mmdb file is truncated in a field.')
  return bytes.subarray(next, next + size)
}

function decodeMap(size: number, { bytes, base, next, depth }: Place): Decoded {
  const entries: [string, unknown][] = []
  for (let n = 0; n < size; n++) {
    const key = decode(bytes, base, next, depth + 1)
    const value = decode(bytes, base, key.next, depth + 1)
    entries.push([String(key.value), value.value])
    next = value.next
  }
  return { value: Object.fromEntries(entries), next }
}

function decodeArray(size: number, { bytes, base, next, depth }: Place): Decoded {
  const value: unknown[] = []
  for (let n = 0; n < size; n++) {
    const item = decode(bytes, base, next, depth + 1)
    value.push(item.value)
    next = item.next
  }
  return { value, next }
}

function decodePointer(bytes: Buffer, base: number, at: number, depth: number): Decoded {
  const control = bytes.readUInt8(at)
  const length = ((control >> 3) & 3) + 1
  const upper = length === 4 ? 0 : (control & 7) * 256 ** length
  const target = upper + bytes.readUIntBE(at + 1, length) + ([0, 0, 2_048, 526_336, 0][length] ?? 0)
  return { value: decode(bytes, base, base + target, depth + 1).value, next: at + 1 + length }
}
