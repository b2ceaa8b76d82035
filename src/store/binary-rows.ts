import type { Pool } from 'pg'

type Value = string | number | boolean | Buffer | null
type Write = (bytes: Buffer, value: never, at: number) => number

const writeText = (bytes: Buffer, value: string, at: number) => at + bytes.write(value, at)

/** Types of PostgreSQL's own: the OID (pg_type.dat), and what writes a value at an offset and returns the one behind it. */
const TYPES = {
  bool: { oid: 16, write: (bytes: Buffer, value: boolean, at: number) => bytes.writeUInt8(Number(value), at) },
  bytea: { oid: 17, write: (bytes: Buffer, value: Buffer, at: number) => at + value.copy(bytes, at) },
  text: { oid: 25, write: writeText },
  json: { oid: 114, write: writeText },
  float8: { oid: 701, write: (bytes: Buffer, value: number, at: number) => bytes.writeDoubleBE(value, at) },
} satisfies Record<string, { oid: number; write: Write }>

/** An attribute of a composite type: its type, and its value in a row. JSON comes as its text. */
export type Attribute<R> = [type: keyof typeof TYPES, valueOf: (row: R) => Value]

/** What a value takes at most beside its text or its bytes: type, length, number. */
const FIXED = 16

/** A character of a string, in UTF-8. */
const MOST_BYTES = 3

/**
 * Rows as a parameter of a statement: an array of a composite type in the binary form (array_recv and record_recv in
 * PostgreSQL's source), which costs both sides less than JSON.
 * @param rowType OID of the composite type
 * @param attributes all that it has, in their order
 */
export function binaryRows<R>(rowType: number, attributes: Attribute<R>[], rows: R[]): Buffer {
  const values = rows.map((row) => attributes.map(([, valueOf]) => valueOf(row)))
  const bytes = Buffer.allocUnsafe(
    values.flat().reduce((sum: number, value) => sum + roomFor(value), FIXED * (rows.length + 2)),
  )
  let at = 0
  const int = (value: number) => void (at = bytes.writeInt32BE(value, at))

  function withLength(write: () => void): void {
    const start = (at += 4)
    write()
    bytes.writeInt32BE(at - start, start - 4)
  }

  // One dimension, without nulls, counted from 1.
  for (const part of [1, 0, rowType, rows.length, 1]) int(part)
  for (const row of values) {
    withLength(() => {
      int(row.length)
      row.forEach((value, i) => {
        const { oid, write } = TYPES[(attributes[i] as Attribute<R>)[0]]
        int(oid)
        if (value === null) int(-1)
        else withLength(() => (at = write(bytes, value as never, at)))
      })
    })
  }
  return bytes.subarray(0, at)
}

function roomFor(value: Value): number {
  if (typeof value === 'string') return FIXED + value.length * MOST_BYTES
  return FIXED + (value instanceof Buffer ? value.length : 0)
}

/** The OID of a type of ours, which differs between databases. */
export async function oidOf(pool: Pool, type: string): Promise<number> {
  const { rows } = await pool.query<{ oid: number }>('select $1::regtype::oid as oid', [type])
  return Number(rows[0]?.oid)
}
