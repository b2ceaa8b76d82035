import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { AsnTable, AutonomousSystem } from './asn-table.ts'

/** Ranges of one address family, ascending. Each bound has `words` words of 32 bits. */
type Ranges = { words: number; starts: Uint32Array; ends: Uint32Array; systems: Uint32Array }

type Growing = { words: number; starts: number[]; ends: number[]; systems: number[] }

/**
 * Parses lines `start TAB end TAB number TAB country TAB name`, ascending in each family. Number 0
 * marks an unannounced range.
 * @throws Error that names the invalid line
 */
export function readRanges(text: string): AsnTable {
  const names = new Map<number, AutonomousSystem>()
  const growing: Record<4 | 6, Growing> = { 4: empty(1), 6: empty(4) }
  let count = 0
  for (const { line, fields } of linesOf(text)) {
    const [start = '', end = '', system = '', , name = ''] = fields
    const family = isIP(start)
    const number = Number(system)
    if (family === 0 || isIP(end) !== family || !/^\d{1,10}$/.test(system) || number > 0xffff_ffff)
      throw new Error(`line ${line} is not “start, end, number”, separated by tabs.`)
    const bounds = { start: wordsOf(start), end: wordsOf(end) }
    // A default route belongs to no provider.
    const isAnnounced = number !== 0 && !isEverything(bounds)
    add(growing[family as 4 | 6], { ...bounds, number: isAnnounced ? number : 0, line })
    if (isAnnounced && !names.has(number)) names.set(number, { number, name })
    count += 1
  }
  if (count === 0) throw new Error('the file is empty.')
  const ranges = { 4: packed(growing[4]), 6: packed(growing[6]) }
  return {
    find(address) {
      const plain = ipaddr.process(address)
      const number = find(ranges[plain.kind() === 'ipv4' ? 4 : 6], wordsOf(plain.toString()))
      return names.get(number) ?? null
    },
  }
}

function* linesOf(text: string): Generator<{ line: number; fields: string[] }> {
  let [line, start] = [1, 0]
  while (start < text.length) {
    const newline = text.indexOf('\n', start)
    const end = newline < 0 ? text.length : newline
    const content = text.slice(start, end).trimEnd()
    if (content !== '') yield { line, fields: content.split('\t') }
    line += 1
    start = end + 1
  }
}

const isEverything = ({ start, end }: Pick<Row, 'start' | 'end'>) =>
  start.every((word) => word === 0) && end.every((word) => word === 0xffff_ffff)

const empty = (words: number): Growing => ({ words, starts: [], ends: [], systems: [] })

type Row = { start: number[]; end: number[]; number: number; line: number }

function add({ words, starts, ends, systems }: Growing, { start, end, number, line }: Row): void {
  if (compare(end, 0, start, 0, words) < 0)
    throw new Error(`the range in line ${line} ends before it begins.`)
  const before = ends.length - words
  if (before >= 0 && compare(start, 0, ends, before, words) <= 0)
    throw new Error(`the range in line ${line} is not in ascending order.`)
  starts.push(...start)
  ends.push(...end)
  systems.push(number)
}

function packed({ words, starts, ends, systems }: Growing): Ranges {
  const pack = (numbers: number[]) => Uint32Array.from(numbers)
  return { words, starts: pack(starts), ends: pack(ends), systems: pack(systems) }
}

/** The number of the range that holds an address; 0 when there is none. */
function find({ words, starts, ends, systems }: Ranges, address: number[]): number {
  let [low, high] = [0, systems.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(starts, middle * words, address, 0, words) <= 0) low = middle + 1
    else high = middle
  }
  const at = low - 1
  return at >= 0 && compare(address, 0, ends, at * words, words) <= 0 ? (systems[at] ?? 0) : 0
}

type Words = ArrayLike<number>

function compare(a: Words, fromA: number, b: Words, fromB: number, words: number): number {
  for (let n = 0; n < words; n++) {
    const difference = (a[fromA + n] ?? 0) - (b[fromB + n] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/**
 * One word of an IPv4 address, four of an IPv6 address; a library that reads every form takes ten
 * times as long.
 */
function wordsOf(address: string): number[] {
  return address.includes(':') ? wordsOfIPv6(address) : [wordOfIPv4(address)]
}

function wordOfIPv4(address: string): number {
  return address.split('.').reduce((word, byte) => word * 256 + Number(byte), 0)
}

function wordsOfIPv6(address: string): number[] {
  const plain = /[.%]/.test(address) ? ipaddr.IPv6.parse(address).toString() : address
  const [head = [], tail = []] = plain
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':')))
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
  const word = (n: number) =>
    parseInt(groups[n] ?? '', 16) * 65_536 + parseInt(groups[n + 1] ?? '', 16)
  return [word(0), word(2), word(4), word(6)]
}
