import type { Entry, ListFacts } from '../../export/entry.ts'
import { FORMATS, type FormatName } from '../../export/formats.ts'
import type { CombinedNetwork } from '../../networks/combine.ts'
import { formatNetwork } from '../../networks/network.ts'

const NETWORKS_PER_PIECE = 1_000

/** Renders a combined list in the formats of the blocklist; JSON and CSV name the sources. */
export function renderExport(
  format: FormatName,
  networks: CombinedNetwork[],
  facts: Omit<ListFacts, 'version'>,
): Iterable<string> {
  if (format === 'json') return renderJson(networks)
  if (format === 'csv') return renderCsv(networks)
  return FORMATS[format].render(
    { version: 0, name: 'portreeve_fleet', ...facts },
    networks.map(entryOf),
  )
}

/** What the formats for firewalls read of an entry is its address. */
function entryOf(network: CombinedNetwork): Entry {
  const unknown = { score: 0, confidence: 'none' as const, services: [], networks: 0 }
  const never = { firstReportedAt: new Date(0), lastReportedAt: new Date(0) }
  return { address: formatNetwork(network), ...unknown, ...never }
}

function* renderJson(networks: CombinedNetwork[]): Generator<string> {
  yield `{"success":true,"data":{"count":${networks.length},"networks":[`
  let separator = ''
  for (const piece of piecesOf(networks)) {
    const rows = piece.map((one) => ({ network: formatNetwork(one), sources: one.names }))
    yield separator + rows.map((row) => JSON.stringify(row)).join(',')
    separator = ','
  }
  yield ']}}\n'
}

function* renderCsv(networks: CombinedNetwork[]): Generator<string> {
  yield 'network,family,sources\n'
  for (const piece of piecesOf(networks))
    yield piece
      .map((one) => `${formatNetwork(one)},${one.family},${one.names.join(' ')}\n`)
      .join('')
}

function* piecesOf<T>(items: T[]): Generator<T[]> {
  for (let at = 0; at < items.length; at += NETWORKS_PER_PIECE)
    yield items.slice(at, at + NETWORKS_PER_PIECE)
}
