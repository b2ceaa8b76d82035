/** How encodings begin, and workbooks of spreadsheets, which are no text. */
const MARKS: [bytes: number[], encoding: string | null][] = [
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0x50, 0x4b, 0x03, 0x04], null],
]

/**
 * The text of a file as spreadsheets write it: UTF-8, UTF-16 with a byte order mark, or
 * Windows-1252; null for what is no text.
 */
export function decodeFile(bytes: Uint8Array): string | null {
  const found = MARKS.find(([mark]) => mark.every((byte, at) => bytes[at] === byte))
  if (found?.[1] === null) return null
  const text = decode(bytes, found?.[1] ?? 'utf-8') ?? decode(bytes, 'windows-1252')
  return text === null || text.includes('\0') ? null : text
}

/** Null where the bytes are none of the encoding. */
function decode(bytes: Uint8Array, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
