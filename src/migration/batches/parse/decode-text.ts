import { Fault } from '../../../errors.ts'

/** Bytes in which UTF-16 without a byte order mark is detected. */
const SAMPLE_BYTES = 1_000

/**
 * Decodes a text file: UTF-8 or UTF-16, with or without a byte order mark, else Windows-1252, which
 * Excel writes.
 * @throws Fault `invalid_request` for a workbook
 */
export function decodeText(bytes: Uint8Array): string {
  if (WORKBOOKS.some((mark) => startsWith(bytes, mark)))
    throw new Fault(
      'invalid_request',
      'The file is an Excel workbook, or another archive. Save it as CSV.',
    )
  if (startsWith(bytes, [0xff, 0xfe])) return decode(bytes, 'utf-16le')
  if (startsWith(bytes, [0xfe, 0xff])) return decode(bytes, 'utf-16be')
  const guessed = guessUtf16(bytes)
  if (guessed !== null) return decode(bytes, guessed)
  try {
    // Removes the byte order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return decode(bytes, 'windows-1252')
  }
}

/** How `.xlsx` (ZIP) and `.xls` (OLE) begin. */
const WORKBOOKS = [
  [0x50, 0x4b, 0x03, 0x04],
  [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1],
]

function decode(bytes: Uint8Array, encoding: string): string {
  return new TextDecoder(encoding).decode(bytes)
}

function startsWith(bytes: Uint8Array, mark: number[]): boolean {
  return mark.every((byte, at) => bytes[at] === byte)
}

/** In UTF-16, the first byte of most letters, digits and separators is 0. */
function guessUtf16(bytes: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const zeros = [0, 0]
  sample.forEach((byte, at) => byte === 0 && (zeros[at % 2] as number)++)
  const many = sample.length / 4
  if ((zeros[1] ?? 0) > many) return 'utf-16le'
  return (zeros[0] ?? 0) > many ? 'utf-16be' : null
}
