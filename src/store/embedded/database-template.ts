import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../../errors.ts'
import { ROOT } from '../../version.ts'

/**
 * A data folder that initdb made when the container image was built: initdb needs a user with a name,
 * and a container may run as any number.
 */
export const TEMPLATE = join(ROOT, 'dist/database')

/** Its system identifier begins each of these files of a new data folder, here at these bytes. */
const CONTROL_FILE = 'global/pg_control'
const FIRST_SEGMENT = 'pg_wal/000000010000000000000001'
const SEGMENT_IDENTIFIER_OFFSET = 24

export function hasTemplate(): boolean {
  return existsSync(TEMPLATE)
}

/**
 * Copies the template into a new or empty folder, with a system identifier of its own: PostgreSQL
 * tells by it whether a WAL segment or a backup belongs to a database.
 * @throws Fault `internal` when the control file is not as expected
 */
export function copyTemplate(folder: string, template: string = TEMPLATE): void {
  mkdirSync(folder, { mode: 0o700, recursive: true })
  for (const entry of readdirSync(template, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    const copy = join(folder, path.slice(template.length))
    if (entry.isDirectory()) mkdirSync(copy, { mode: 0o700, recursive: true })
    else {
      copyFileSync(path, copy)
      chmodSync(copy, 0o600)
    }
  }
  const identifier = newIdentifier()
  const control = readFileSync(join(folder, CONTROL_FILE))
  const covered = coveredBytes(control)
  identifier.copy(control)
  control.writeUInt32LE(crc32c(control.subarray(0, covered)), covered)
  writeFileSync(join(folder, CONTROL_FILE), control)
  const segment = readFileSync(join(folder, FIRST_SEGMENT))
  identifier.copy(segment, SEGMENT_IDENTIFIER_OFFSET)
  writeFileSync(join(folder, FIRST_SEGMENT), segment)
}

/** As PostgreSQL makes it: the time in seconds, and bits that differ within a second. */
function newIdentifier(): Buffer {
  const identifier = randomBytes(8)
  identifier.writeUInt32LE(Math.floor(Date.now() / 1_000), 4)
  return identifier
}

/** The length of the control data: its checksum, of 4 bytes, follows it. */
function coveredBytes(control: Buffer): number {
  let crc = 0
  for (let end = 4; end + 4 <= control.length; end += 4) {
    crc = crc32c(control.subarray(end - 4, end), crc)
    if (control.readUInt32LE(end) === crc) return end
  }
  throw new Fault('internal', `${CONTROL_FILE} of the prepared database has no valid checksum.`)
}

/** CRC-32C (RFC 3720, appendix B.4), which node:zlib does not have. */
function crc32c(bytes: Buffer, before = 0): number {
  let crc = ~before
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0)
  }
  return ~crc >>> 0
}
