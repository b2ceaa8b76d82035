import { readFileSync } from 'node:fs'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Fault, messageOf } from '../../errors.ts'
import type { AsnTable, AutonomousSystem } from './asn-table.ts'
import { isCompactTable, readCompactTable } from './asn-compact.ts'
import { readRanges } from './asn-ranges.ts'
import { isMmdb, openMmdb } from './mmdb.ts'

/** Some 700,000 ranges have 60 MB. */
const MOST_BYTES = 1024 ** 3
const MAX_SHIPPED_BYTES = 64 * 1024 ** 2

/**
 * Opens a table on disk: see {@link parseAsnTable}.
 * @throws Fault `invalid_request` that names the file and its problem
 */
export function readAsnTable(path: string): AsnTable {
  try {
    return parseAsnTable(readFileSync(path))
  } catch (error) {
    const sentence = `ASN_DB_PATH: ${path} is not a usable table of autonomous systems: ${messageOf(error)}`
    throw new Fault('invalid_request', sentence, { cause: error })
  }
}

/**
 * Opens the table that is shipped, some ten bytes of memory a range.
 * @returns null when there is none, or it cannot be read
 */
export function readShippedTable(path: string): AsnTable | null {
  try {
    const bytes = brotliDecompressSync(readFileSync(path), { maxOutputLength: MAX_SHIPPED_BYTES })
    return isCompactTable(bytes) ? readCompactTable(bytes) : null
  } catch {
    return null
  }
}

/**
 * Parses a table, plain or compressed with gzip: iptoasn.com’s lines of start, end, number, country
 * and name between tabs, or an mmdb of systems (GeoLite2 ASN, DB-IP ASN Lite, IPinfo Lite).
 * @throws Error with the problem
 */
export function parseAsnTable(bytes: Buffer): AsnTable {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
  const content = isGzip ? gunzipSync(bytes, { maxOutputLength: MOST_BYTES }) : bytes
  if (isCompactTable(content)) return readCompactTable(content)
  return isMmdb(content) ? tableOfMmdb(content) : readRanges(new TextDecoder().decode(content))
}

function tableOfMmdb(bytes: Buffer): AsnTable {
  const database = openMmdb(bytes)
  const knowsSystems = database.sample(1_000).some((record) => systemOf(record) !== null)
  if (!knowsSystems) throw new Error('the mmdb file has no autonomous systems.')
  return { find: (address) => systemOf(database.find(address)) }
}

/** MaxMind and DB-IP have a number and an organization, IPinfo has `AS13335` and a name. */
function systemOf(record: unknown): AutonomousSystem | null {
  if (typeof record !== 'object' || record === null) return null
  const fields = record as Record<string, unknown>
  const given = fields['autonomous_system_number'] ?? fields['asn']
  const name = fields['autonomous_system_organization'] ?? fields['as_name'] ?? fields['name']
  const number = Number(textOf(given).replace(/^AS/i, ''))
  return Number.isSafeInteger(number) && number > 0 ? { number, name: textOf(name) } : null
}

const textOf = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : ''
