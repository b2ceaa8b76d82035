import type { Networks, NetworkSet } from './network-set.ts'

const VERSION = 1
const START_BYTES = { 4: 4, 6: 8 } as const

/** Encodes a set for the database: nine bytes for an IPv4 network, thirteen for one of IPv6. */
export function encodeNetworkSet(set: NetworkSet): Buffer {
  const parts = [Buffer.from([VERSION]), ...[set[4], set[6]].map(encodeNetworks)]
  return Buffer.concat(parts)
}

function encodeNetworks({ family, starts, bits, since }: Networks): Buffer {
  const { length } = starts
  const width = START_BYTES[family]
  const bytes = Buffer.alloc(4 + length * (width + 5))
  bytes.writeUInt32BE(length, 0)
  let at = 4
  for (let index = 0; index < length; index += 1) {
    const start = starts[index] ?? 0n
    if (family === 4) bytes.writeUInt32BE(Number(start), at)
    else bytes.writeBigUInt64BE(start, at)
    bytes.writeUInt8(bits[index] ?? 0, at + width)
    bytes.writeUInt32BE(since[index] ?? 0, at + width + 1)
    at += width + 5
  }
  return bytes
}

/** @throws Error for bytes that `encodeNetworkSet` did not write */
export function decodeNetworkSet(bytes: Buffer): NetworkSet {
  if (bytes[0] !== VERSION) throw new Error('not an encoded set of networks')
  const ipv4 = decodeNetworks(bytes, 1, 4)
  const ipv6 = decodeNetworks(bytes, ipv4.end, 6)
  return { 4: ipv4.networks, 6: ipv6.networks }
}

function decodeNetworks(bytes: Buffer, offset: number, family: 4 | 6) {
  const length = bytes.readUInt32BE(offset)
  const width = START_BYTES[family]
  const networks: Networks = {
    family,
    starts: new BigUint64Array(length),
    bits: new Uint8Array(length),
    since: new Uint32Array(length),
  }
  let at = offset + 4
  for (let index = 0; index < length; index += 1) {
    networks.starts[index] =
      family === 4 ? BigInt(bytes.readUInt32BE(at)) : bytes.readBigUInt64BE(at)
    networks.bits[index] = bytes.readUInt8(at + width)
    networks.since[index] = bytes.readUInt32BE(at + width + 1)
    at += width + 5
  }
  return { networks, end: at }
}
