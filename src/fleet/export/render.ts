import type { Entry, ListFacts } from '../../abuse/export/entry.ts'
import { FORMATS, type FormatName } from '../../abuse/export/export-formats.ts'
import { jsonItems, lines } from '../../abuse/export/list-lines.ts'
import type { CombinedNetwork } from '../../protocols/networks/combine.ts'
import { formatNetwork } from '../../protocols/networks/network.ts'

/** Renders a combined list in the formats of the blocklist; JSON and CSV name the sources. */
export function renderExport(
  format: FormatName,
  networks: CombinedNetwork[],
  { bans = new Map(), ...facts }: Omit<ListFacts, 'version'> & { bans?: BanEnds },
): Iterable<string> {
  if (format === 'json') return renderJson(networks)
  if (format === 'csv') return renderCsv(networks)
  return FORMATS[format].render(
    { version: 0, name: 'portreeve_fleet', ...facts },
    networks.map((network) => entryOf(network, bans)),
  )
}

/** When bans end, by address. */
export type BanEnds = ReadonlyMap<string, Date>

/** Where a format takes a part of the list: the workspace’s own bans first, then the shared list. */
const SCORES: Record<string, number> = { fleet: 100, shared: 50 }

/** What the formats for firewalls read of an entry: address, source, and the end of a ban. */
function entryOf(network: CombinedNetwork, bans: BanEnds): Entry {
  const { names } = network
  const address = formatNetwork(network)
  const unknown = { confidence: 'none' as const, networks: 0 }
  const never = { firstReportedAt: new Date(0), lastReportedAt: new Date(0) }
  const score = Math.max(...names.map((name) => SCORES[name] ?? 0))
  // An address that another list has, too, stays as long as that list has it.
  const expiresAt = names.every((name) => name === 'fleet') ? bans.get(address) : undefined
  return { address, score, services: names, expiresAt, ...unknown, ...never }
}

function* renderJson(networks: CombinedNetwork[]): Generator<string> {
  yield `{"success":true,"data":{"count":${networks.length},"networks":[`
  yield* jsonItems(networks, (one) => ({ network: formatNetwork(one), sources: one.names }))
  yield ']}}\n'
}

function* renderCsv(networks: CombinedNetwork[]): Generator<string> {
  yield 'network,family,sources\n'
  yield* lines(networks, (one) => `${formatNetwork(one)},${one.family},${one.names.join(' ')}`)
}
