import {
  isPublicNetwork,
  overlap,
  parseNetwork,
  type Network,
} from '../protocols/networks/network.ts'
import type { FeedFormat } from './feed-catalogue.ts'

/** The networks of a version of a feed, and how many were left out because they are not public. */
export type ParsedFeed = { networks: Network[]; skipped: number }

/** A version of a feed that does not have its format. */
export class MalformedFeed extends Error {
  override name = 'MalformedFeed'
}

const MAX_NETWORKS = 250_000

/** Bits of the widest network: no feed lists the networks of a whole registry. */
const WIDEST = { 4: 8, 6: 16 } as const

/**
 * Parses all parts of a feed. Private and reserved networks are left out; a line that is not a
 * network makes the whole version invalid.
 * @throws MalformedFeed
 */
export function parseFeed(format: FeedFormat, texts: string[]): ParsedFeed {
  const parsed: ParsedFeed = { networks: [], skipped: 0 }
  for (const text of texts) {
    const lines = text.split('\n')
    if (lines.every((line) => line.trim() === '')) throw new MalformedFeed('It is empty.')
    for (const [index, content] of PARSERS[format](lines)) addNetwork(parsed, content, index + 1)
  }
  return parsed
}

function addNetwork(parsed: ParsedFeed, text: string, line: number): void {
  const network = parseNetwork(text)
  if (!network) throw new MalformedFeed(`Line ${line} is not a network: ${shorten(text)}`)
  if (network.bits < WIDEST[network.family] && hasPublicAddresses(network))
    throw new MalformedFeed(`Line ${line} has a network that is too wide: ${shorten(text)}`)
  if (!isPublicNetwork(network)) return void (parsed.skipped += 1)
  parsed.networks.push(network)
  if (parsed.networks.length > MAX_NETWORKS)
    throw new MalformedFeed(`It has more than ${MAX_NETWORKS.toLocaleString('en')} networks.`)
}

/** Networks without, such as `224.0.0.0/3` of multicast and reserved addresses, may be wide. */
function hasPublicAddresses(network: Network): boolean {
  return network.family === 4 ? network.start < 224n << 24n : overlap(GLOBAL_UNICAST, network)
}

const GLOBAL_UNICAST: Network = { family: 6, start: 0x2000n << 48n, bits: 3 }

/** The networks of a feed, each with the index of its line. */
type Entries = Iterable<[index: number, network: string]>

const PARSERS: Record<FeedFormat, (lines: string[]) => Entries> = {
  plain: (lines) => readLines(lines, readPlainLine),
  'drop-json': readDrop,
  dshield: (lines) => readLines(lines, readDShieldLine),
}

/**
 * Reads a network from each line. The last one may be cut where it has no line break: 192.0.2.1 of
 * 192.0.2.123 would be the address of another. It must be valid, and does not count.
 */
function* readLines(
  lines: string[],
  read: (line: string, number: number) => string | null,
): Entries {
  for (const [index, line] of lines.entries()) {
    const content = read(line.trim(), index + 1)
    if (content === null) continue
    if (index < lines.length - 1) yield [index, content]
    else if (!parseNetwork(content))
      throw new MalformedFeed(`Line ${index + 1} is not a network: ${shorten(content)}`)
  }
}

const readPlainLine = (line: string) =>
  line === '' || line.startsWith('#') || line.startsWith(';') ? null : line

/** JSON lines: `{"cidr": …}`, and at the end one of type `metadata`, which may count them. */
function* readDrop(lines: string[]): Entries {
  let count = 0
  let end: DropLine | null = null
  for (const [index, raw] of lines.entries()) {
    const line = raw.trim()
    if (line === '') continue
    const entry = dropLine(line)
    if (entry?.type === 'metadata') end = entry
    else if (typeof entry?.cidr === 'string') yield [index, entry.cidr]
    else throw new MalformedFeed(`Line ${index + 1} is not an entry: ${shorten(line)}`)
    if (entry.type !== 'metadata') count++
  }
  if (end === null) throw new MalformedFeed('It ends before its last line.')
  if (typeof end.records === 'number' && end.records !== count)
    throw new MalformedFeed(`It has ${count} of ${end.records} entries.`)
}

type DropLine = { cidr?: unknown; type?: unknown; records?: unknown }

function dropLine(line: string): DropLine | null {
  try {
    return JSON.parse(line) as DropLine | null
  } catch {
    return null
  }
}

/** Tab-separated: start, end, prefix length, and more about the network. */
function readDShieldLine(line: string, number: number): string | null {
  if (line === '' || line.startsWith('#') || line.startsWith('Start')) return null
  const [start = '', , bits = ''] = line.split('\t')
  if (!/^\d{1,2}$/.test(bits))
    throw new MalformedFeed(`Line ${number} is not an entry: ${shorten(line)}`)
  return `${start.trim()}/${bits}`
}

const shorten = (text: string) => {
  const shown = text.replace(/\p{Cc}/gu, ' ')
  return shown.length > 60 ? `${shown.slice(0, 60)}…` : shown
}
