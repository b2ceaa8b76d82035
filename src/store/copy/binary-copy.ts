import ipaddr from 'ipaddr.js'

/**
 * The JavaScript types of values: JSON as text, a UUID as text or 16 bytes, an inet as the text of
 * an address.
 */
type Values = {
  text: string
  json: string
  bytea: Buffer
  uuid: string | Buffer
  inet: string
  bool: boolean
  int2: number
  int4: number
  int8: number
  float4: number
  timestamptz: Date
}
type Type = keyof Values
type Value = Values[Type] | null

/** A column: its name, its type, and how to get its value from a row. */
export type Column<R> = {
  [T in Type]: [name: string, type: T, valueOf: (row: R) => Values[T] | null]
}[Type]

/** A reusable buffer that rows are written to. It grows for long rows. */
export type CopyPage = { bytes: Buffer; at: number }

/** Initial bytes of a page. */
const PAGE_BYTES = 64 * 1024

/** Bytes of a value in addition to its text or bytes. */
const MAX_VALUE_OVERHEAD_BYTES = 32

/** Bytes of one UTF-16 code unit in UTF-8, at most. */
const MAX_BYTES_PER_CHARACTER = 3

/** Cached encodings of texts that occur again and again. */
const MAX_CACHED_TEXTS = 1_000

/** Signature, flags, and an extension length of zero. */
const HEADER = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')

/** PostgreSQL counts microseconds from this time. */
const EPOCH = Date.UTC(2000, 0, 1)

/** PostgreSQL’s address families (utils/inet.h in its source), by the length of an address. */
const FAMILIES: Record<number, number> = { 4: 2, 16: 3 }

const uuidOf = remembering((uuid) => Buffer.from(uuid.replaceAll('-', ''), 'hex'))

const inetOf = remembering((text) => {
  const address = ipaddr.parse(text).toByteArray()
  const { length } = address
  return Buffer.from([FAMILIES[length] as number, length * 8, 0, length, ...address])
})

/** Writes each type as its receive function in PostgreSQL reads it (uuid_recv, inet_recv …). */
const WRITE: { [T in Type]: (page: CopyPage, value: Values[T]) => void } = {
  text: putText,
  json: putText,
  bytea: put,
  uuid: (page, value) => put(page, typeof value === 'string' ? uuidOf(value) : value),
  inet: (page, value) => put(page, inetOf(value)),
  bool: (page, value) => put(page, [Number(value)]),
  int2: int16,
  int4: int32,
  int8: int64,
  float4: (page, value) => void (page.at = page.bytes.writeFloatBE(value, page.at)),
  timestamptz: (page, value) => int64(page, (value.getTime() - EPOCH) * 1_000),
}

export function newPage(): CopyPage {
  return { bytes: Buffer.allocUnsafeSlow(PAGE_BYTES), at: 0 }
}

/**
 * Writes rows in the binary format of COPY (PostgreSQL’s manual, COPY, “Binary Format”).
 * @returns the bytes of the page that they occupy
 */
export function writeRows<R>(page: CopyPage, columns: Column<R>[], rows: R[]): Buffer {
  page.at = 0
  put(page, HEADER)
  for (const row of rows) {
    reserve(page, MAX_VALUE_OVERHEAD_BYTES)
    int16(page, columns.length)
    for (const [, type, valueOf] of columns) writeValue(page, type, valueOf(row))
  }
  reserve(page, MAX_VALUE_OVERHEAD_BYTES)
  int16(page, -1)
  return page.bytes.subarray(0, page.at)
}

/** Writes a value after its length. */
function writeValue(page: CopyPage, type: Type, value: Value): void {
  reserve(page, MAX_VALUE_OVERHEAD_BYTES + lengthOf(value))
  const start = page.at
  int32(page, -1)
  if (value === null) return
  const write = WRITE[type] as (page: CopyPage, value: Value) => void
  write(page, value)
  page.bytes.writeInt32BE(page.at - start - 4, start)
}

function remembering(bytesOf: (text: string) => Buffer): typeof bytesOf {
  const known = new Map<string, Buffer>()
  return (text) => {
    let bytes = known.get(text)
    if (bytes) return bytes
    bytes = bytesOf(text)
    if (known.size === MAX_CACHED_TEXTS) known.clear()
    known.set(text, bytes)
    return bytes
  }
}

function lengthOf(value: Value): number {
  if (typeof value === 'string') return value.length * MAX_BYTES_PER_CHARACTER
  return value instanceof Buffer ? value.length : 0
}

function reserve(page: CopyPage, byteCount: number): void {
  if (page.at + byteCount <= page.bytes.length) return
  const longer = Buffer.allocUnsafeSlow((page.at + byteCount) * 2)
  page.bytes.copy(longer, 0, 0, page.at)
  page.bytes = longer
}

function put(page: CopyPage, bytes: Uint8Array | number[]): void {
  page.bytes.set(bytes, page.at)
  page.at += bytes.length
}

function putText(page: CopyPage, text: string): void {
  if (text !== '') page.at += page.bytes.write(text, page.at)
}

function int16(page: CopyPage, value: number): void {
  page.at = page.bytes.writeInt16BE(value, page.at)
}

function int32(page: CopyPage, value: number): void {
  page.at = page.bytes.writeInt32BE(value, page.at)
}

function int64(page: CopyPage, value: number): void {
  const high = Math.floor(value / 2 ** 32)
  int32(page, high)
  page.at = page.bytes.writeUInt32BE(value - high * 2 ** 32, page.at)
}
