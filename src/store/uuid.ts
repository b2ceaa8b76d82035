import { randomBytes } from 'node:crypto'

/** UUIDs for which random bytes are generated at once. */
const UUIDS_PER_POOL = 256
const UUID_BYTES = 16

/** The highest count within a millisecond. */
const MAX_COUNT = 0xfff

let random = Buffer.alloc(0)
let used = 0

/** The milliseconds since 1970 of the last id, and the number of ids before it in them. */
let time = 0
let count = 0

/**
 * Generates the 16 bytes of a UUID that sorts after all that this process has made, for rows whose
 * id is needed before they are stored: RFC 9562, version 7, with a counter (section 6.2, method 1).
 * When the counter is full or the clock was set back, ids are ahead of the clock.
 */
export function newUuidBytes(): Buffer {
  if (used === random.length) {
    random = randomBytes(UUIDS_PER_POOL * UUID_BYTES)
    used = 0
  }
  const now = Date.now()
  if (now > time || count === MAX_COUNT) {
    time = Math.max(now, time + 1)
    count = 0
  } else count += 1
  const id = random.subarray(used, (used += UUID_BYTES))
  id.writeUIntBE(time, 0, 6)
  id.writeUInt16BE(0x7000 | count, 6)
  id.writeUInt8((id.readUInt8(8) & 0x3f) | 0x80, 8)
  return id
}

/** The same as text. */
export function newUuid(): string {
  const hex = newUuidBytes().toString('hex')
  return [8, 12, 16, 20, 32]
    .map((end, index, ends) => hex.slice(ends[index - 1] ?? 0, end))
    .join('-')
}

/** Whether a text is a UUID of any version. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}
