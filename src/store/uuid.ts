import { randomBytes } from 'node:crypto'

/** UUIDs for which random bytes are generated at once. */
const UUIDS_PER_POOL = 256
const UUID_BYTES = 16

let random = Buffer.alloc(0)
let used = 0

/**
 * Generates the 16 bytes of a UUID that sorts by time (RFC 9562, version 7), for rows whose id is
 * needed before they are stored.
 * @param now milliseconds since 1970
 */
export function newUuidBytes(now = Date.now()): Buffer {
  if (used === random.length) {
    random = randomBytes(UUIDS_PER_POOL * UUID_BYTES)
    used = 0
  }
  const id = random.subarray(used, (used += UUID_BYTES))
  id.writeUIntBE(now, 0, 6)
  id.writeUInt8((id.readUInt8(6) & 0x0f) | 0x70, 6)
  id.writeUInt8((id.readUInt8(8) & 0x3f) | 0x80, 8)
  return id
}

/** The same as text. */
export function newUuid(now = Date.now()): string {
  const hex = newUuidBytes(now).toString('hex')
  return [8, 12, 16, 20, 32]
    .map((end, index, ends) => hex.slice(ends[index - 1] ?? 0, end))
    .join('-')
}
