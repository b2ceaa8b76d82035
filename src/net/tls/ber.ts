/** An element of BER or DER: LDAP messages, certificates. */
export type Element = { tag: number; value: Buffer }

/**
 * The length of the first element with its tag. Null while it is not all there; NaN where it is none
 * that is read here: indefinite, or of more than 4 bytes.
 */
export function berLength(bytes: Uint8Array): number | null {
  const first = bytes[1]
  if (first === undefined) return null
  if (first < 0x80) return 2 + first
  const count = first & 0x7f
  if (count === 0 || count > 4) return NaN
  if (bytes.length < 2 + count) return null
  return 2 + count + Buffer.from(bytes.subarray(2, 2 + count)).readUIntBE(0, count)
}

/** The elements one behind the other, up to the first that cannot be read. */
export function elements(bytes: Buffer = Buffer.alloc(0)): Element[] {
  const found: Element[] = []
  for (let rest = bytes; rest.length >= 2;) {
    const length = berLength(rest)
    if (length === null || !(length <= rest.length)) break
    const header = 2 + ((rest[1] as number) < 0x80 ? 0 : (rest[1] as number) & 0x7f)
    found.push({ tag: rest[0] as number, value: rest.subarray(header, length) })
    rest = rest.subarray(length)
  }
  return found
}
