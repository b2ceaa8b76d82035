import ipaddr from 'ipaddr.js'
import { Reader, type Response } from 'mmdb-lib'

/** Records by network, in the format of MaxMind (https://maxmind.github.io/MaxMind-DB/). */
export type Mmdb = {
  /** The record of an address; null when there is none, or when it is damaged. */
  find(address: string): unknown
  /** The records of its first networks, at most `most`, up to one that is damaged. */
  sample(most: number): unknown[]
}

const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1')

/** Networks that are passed while records are sampled; most of a table have none. */
const MAX_PASSED_NETWORKS = 100_000

export const isMmdb = (bytes: Buffer) => bytes.lastIndexOf(MARKER) >= 0

/** @throws Error with the problem */
export function openMmdb(bytes: Buffer): Mmdb {
  const reader = new Reader<Response>(bytes)
  const { ipVersion, searchTreeSize } = reader.metadata
  if (searchTreeSize > bytes.length)
    throw new Error('the mmdb file is truncated: it is shorter than its tree.')

  function find(address: string): unknown {
    const parsed = ipaddr.process(address)
    // The reader follows as many bits as the address has.
    if (ipVersion === 4 && parsed.kind() === 'ipv6') return null
    try {
      return reader.get(parsed.toString())
    } catch {
      return null
    }
  }

  return {
    find,
    sample(most) {
      const values: unknown[] = []
      const bits = ipVersion === 4 ? 32 : 128
      const end = 1n << BigInt(bits)
      try {
        for (let at = 0n, passed = 0; at < end && passed < MAX_PASSED_NETWORKS; passed++) {
          const [value, length] = reader.getWithPrefixLength(addressOf(at, bits))
          if (value !== null) values.push(value)
          if (values.length >= most) break
          at += 1n << BigInt(bits - length)
        }
      } catch {
        // A damaged record: those before it are the sample.
      }
      return values
    },
  }
}

function addressOf(value: bigint, bits: number): string {
  const bytes = Buffer.from(value.toString(16).padStart(bits / 4, '0'), 'hex')
  return ipaddr.fromByteArray([...bytes]).toString()
}
