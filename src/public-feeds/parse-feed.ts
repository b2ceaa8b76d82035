import { isPublicNetwork, parseNetwork, type Network } from '../protocols/networks/network.ts'
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
    let line = 0
    for (const raw of text.split('\n')) {
      line += 1
      const content = PARSERS[format](raw.trim(), line)
      if (content !== null) addNetwork(parsed, content, line)
    }
  }
  return parsed
}

function addNetwork(parsed: ParsedFeed, text: string, line: number): void {
  const network = parseNetwork(text)
  if (!network) throw new MalformedFeed(`Line ${line} is not a network: ${shorten(text)}`)
  if (!isPublicNetwork(network)) return void (parsed.skipped += 1)
  if (network.bits < WIDEST[network.family])
    throw new MalformedFeed(`Line ${line} has a network that is too wide: ${shorten(text)}`)
  parsed.networks.push(network)
  if (parsed.networks.length > MAX_NETWORKS)
    throw new MalformedFeed(`It has more than ${MAX_NETWORKS.toLocaleString('en')} networks.`)
}

/** Each returns the network of a line; null for a line without one. */
const PARSERS: Record<FeedFormat, (line: string, number: number) => string | null> = {
  plain: (line) => (line === '' || line.startsWith('#') || line.startsWith(';') ? null : line),
  'drop-json': readDropLine,
  dshield: readDShieldLine,
}

/** JSON lines: `{"cidr": …}`, and at the end one of type `metadata`. */
function readDropLine(line: string, number: number): string | null {
  if (line === '') return null
  try {
    const { cidr, type } = JSON.parse(line) as { cidr?: unknown; type?: unknown }
    if (type === 'metadata') return null
    if (typeof cidr === 'string') return cidr
  } catch {
    // Not JSON, or JSON without an object.
  }
  throw new MalformedFeed(`Line ${number} is not an entry: ${shorten(line)}`)
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
