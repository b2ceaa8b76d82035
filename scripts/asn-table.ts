// `npm run asn-table`: makes data/asn/table.bin.br, the table of autonomous systems that is
// shipped, from the package
// @ip-location-db/asn, which npm fetches into a temporary folder; or from a folder with its two CSV
//   files.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import {
  encodeCompactTable,
  networkOfIPv6,
  numberOfIPv4,
  type CompactTable,
} from '../src/protocols/networks/asn-compact.ts'
import { operatorsOf } from './asn-operators.ts'
import { ROOT } from './run.ts'

const PACKAGE = '@ip-location-db/asn'
const TARGET = join(ROOT, 'data', 'asn', 'table.bin.br')

/** A larger file would be a burden for every installation. */
const MAX_FILE_BYTES = 3_000_000

type Row = { start: number; end: number; system: number }

/** @param name of a system; addresses of systems without a proper number or name stay unknown */
export function readCsv(
  text: string,
  toNumber: (address: string) => number,
  names: Map<number, string>,
): Row[] {
  const rows: Row[] = []
  for (const line of text.split('\n')) {
    const [, start = '', end = '', number = '', name = ''] =
      /^([^,]+),([^,]+),(\d+),(.*?)\r?$/.exec(line) ?? []
    const system = Number(number)
    if (start === '' || !isAssigned(system, name)) continue
    names.set(system, name.replace(/^"(.*)"$/, '$1').replaceAll('""', '"'))
    rows.push({ start: toNumber(start), end: toNumber(end), system })
  }
  return rows.toSorted((a, b) => a.start - b.start || a.end - b.end)
}

/** RFC 6996, RFC 7607 and RFC 5398: private and reserved numbers belong to no operator. */
function isAssigned(system: number, name: string): boolean {
  const isPrivate = (system >= 64_496 && system <= 65_551) || system >= 4_200_000_000
  return system !== 0 && system !== 23_456 && !isPrivate && !name.includes('Reserved AS')
}

/**
 * Where each range begins; neighbours of one system are one range, and a gap begins with system 0.
 */
export function boundariesOf(rows: Row[]): { starts: number[]; systems: number[] } {
  const [starts, systems]: [number[], number[]] = [[], []]
  let next = 0
  function begin(start: number, system: number): void {
    if (systems.at(-1) === system) return
    starts.push(start)
    systems.push(system)
  }
  for (const { start, end, system } of rows) {
    if (end < next) continue
    const from = Math.max(start, next)
    if (from > next) begin(next, 0)
    begin(from, system)
    next = end + 1
  }
  begin(next, 0)
  return { starts, systems }
}

export function tableOf(csv: { ipv4: string; ipv6: string }, date: string): CompactTable {
  const names = new Map<number, string>()
  const [ipv4, ipv6] = [
    readCsv(csv.ipv4, numberOfIPv4, names),
    readCsv(csv.ipv6, networkOfIPv6, names),
  ]
  return { date, ipv4: boundariesOf(ipv4), ipv6: boundariesOf(ipv6), operators: operatorsOf(names) }
}

function fetchPackage(folder: string): string {
  execFileSync(
    'npm',
    ['install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', PACKAGE],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  )
  return join(folder, 'node_modules', PACKAGE)
}

function write(folder: string): void {
  const textOf = (name: string) => readFileSync(join(folder, name), 'utf8')
  // Its versions end in year, month, day and hour.
  const { version } = JSON.parse(textOf('package.json')) as { version: string }
  const [, year, month, day] = /(\d{4})(\d\d)(\d\d)\d\d$/.exec(version) ?? []
  if (day === undefined) throw new Error(`${PACKAGE}@${version} does not say when it was made.`)
  const table = tableOf(
    { ipv4: textOf('asn-ipv4.csv'), ipv6: textOf('asn-ipv6.csv') },
    `${year}-${month}-${day}`,
  )
  const bytes = encodeCompactTable(table)
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 }
  const packed = brotliCompressSync(bytes, { params })
  if (packed.length > MAX_FILE_BYTES)
    throw new Error(`The table has ${packed.length} bytes: more than should ship.`)
  writeFileSync(TARGET, packed)
  const { ipv4, ipv6, operators, date } = table
  const counts = `${ipv4.starts.length} IPv4 and ${ipv6.starts.length} IPv6 ranges, ${operators.size} systems grouped`
  console.log(`${TARGET}: ${packed.length} bytes (${bytes.length} unpacked), ${counts}, of ${date}`)
}

if (import.meta.main) {
  const [given] = process.argv.slice(2)
  const temporary = mkdtempSync(join(tmpdir(), 'portreeve-asn-'))
  try {
    write(given ?? fetchPackage(temporary))
  } finally {
    rmSync(temporary, { recursive: true })
  }
}
