import { isIP } from 'node:net'
import type { AsnTable } from './asn-table.ts'

/** The format that {@link encodeCompactTable} writes and {@link readCompactTable} reads. */
export type CompactTable = {
  /** When the data was collected, `2026-06-17`. */
  date: string
  /**
   * Where each range begins, ascending, and its system; 0 where a gap begins. IPv6 is counted in
   * /48 networks.
   */
  ipv4: { starts: number[]; systems: number[] }
  ipv6: { starts: number[]; systems: number[] }
  /**
   * Systems that belong to one operator, each with the lowest number of that operator's systems.
   */
  operators: Map<number, number>
}

const MAGIC = Buffer.from('ASNTABLE')
const VERSION = 1
/** A varint of 48 bits. */
const MAX_VARINT_BYTES = 7
/** The file has some 600,000 ranges; a wrong count must not reserve the whole memory. */
const MAX_RANGES = 8_000_000

export const isCompactTable = (bytes: Buffer) => bytes.subarray(0, MAGIC.length).equals(MAGIC)

/**
 * Writes a table: the magic, then columns of varints, of which general compression makes a
 * fraction.
 */
export function encodeCompactTable({ date, ipv4, ipv6, operators }: CompactTable): Buffer {
  const members = [...operators].toSorted(([a], [b]) => a - b)
  const head = [
    VERSION,
    Number(date.replaceAll('-', '')),
    ipv4.starts.length,
    ipv6.starts.length,
    members.length,
  ]
  const columns = [
    head,
    differences(ipv4.starts),
    ipv4.systems,
    differences(ipv6.starts),
    ipv6.systems,
    differences(members.map(([member]) => member)),
    members.map(([, operator]) => operator),
  ]
  return Buffer.concat([MAGIC, ...columns.map(varints)])
}

const differences = (numbers: number[]) =>
  numbers.map((number, index) => number - (numbers[index - 1] ?? 0))

function varints(numbers: number[]): Buffer {
  const bytes = Buffer.alloc(numbers.length * MAX_VARINT_BYTES)
  let at = 0
  for (let rest of numbers) {
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes[at++] = (rest % 128) + 128
    bytes[at++] = rest
  }
  return bytes.subarray(0, at)
}

/**
 * Reads a compact table into typed arrays, some ten bytes per range. It has no names.
 * @throws Error with the problem
 */
export function readCompactTable(bytes: Buffer): AsnTable {
  let at = MAGIC.length
  function next(): number {
    let [number, scale] = [0, 1]
    for (let n = 0; n < MAX_VARINT_BYTES; n++) {
      const byte = bytes[at++]
      if (byte === undefined) throw new Error('the file is truncated.')
      number += (byte & 127) * scale
      if (byte < 128) return number
      scale *= 128
    }
    throw new Error('the file is damaged.')
  }
  function fill<A extends Uint32Array | Float64Array>(column: A, isAscending: boolean): A {
    let before = 0
    for (let n = 0; n < column.length; n++) column[n] = before = next() + (isAscending ? before : 0)
    return column
  }
  const [version, day, count4, count6, members] = [next(), next(), next(), next(), next()]
  if (version !== VERSION)
    throw new Error(`the file has version ${version}, but only ${VERSION} is supported.`)
  if (Math.max(count4, count6, members) > MAX_RANGES) throw new Error('the file is damaged.')
  const starts4 = fill(new Uint32Array(count4), true)
  const systems4 = fill(new Uint32Array(count4), false)
  const starts6 = fill(new Float64Array(count6), true)
  const systems6 = fill(new Uint32Array(count6), false)
  const member = fill(new Uint32Array(members), true)
  const operator = fill(new Uint32Array(members), false)
  return {
    date: String(day).replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3'),
    find(address) {
      const number = address.includes(':')
        ? systemAt(starts6, systems6, networkOfIPv6(address))
        : systemAt(starts4, systems4, numberOfIPv4(address))
      return number === 0 ? null : { number, name: '' }
    },
    operatorOf(number) {
      const index = lastUpTo(member, number)
      return member[index] === number ? (operator[index] ?? number) : number
    },
  }
}

type Ascending = Uint32Array | Float64Array

const systemAt = (starts: Ascending, systems: Uint32Array, key: number) =>
  systems[lastUpTo(starts, key)] ?? 0

/** The index of the last entry that is not above a key; -1 when all are. */
function lastUpTo(ascending: Ascending, key: number): number {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ascending[middle] ?? 0) <= key) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** @param address as `192.0.2.1` */
export function numberOfIPv4(address: string): number {
  return address.split('.').reduce((number, byte) => number * 256 + Number(byte), 0)
}

/**
 * The number of the /48 network of an address: its first three groups.
 * @param address in hexadecimal groups; one that ends in an IPv4 address has zeros where it
 *   matters, or is not known
 */
export function networkOfIPv6(address: string): number {
  if (isIP(address) !== 6) return -1
  const [head = '', tail] = address.split('::')
  const groups = head === '' ? [] : head.split(':')
  if (tail !== undefined) {
    const after = tail === '' ? [] : tail.split(':')
    const width = after.length + Number(after.at(-1)?.includes('.') ?? false)
    groups.push(...Array<string>(Math.max(0, 8 - groups.length - width)).fill('0'), ...after)
  }
  return groups.slice(0, 3).reduce((number, group) => number * 65_536 + parseInt(group, 16), 0)
}
