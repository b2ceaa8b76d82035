/** Decodes the bytes of a body from the API. */
export function decodeBody({
  body,
  bodyEncoding,
}: {
  body: string
  bodyEncoding: 'utf8' | 'base64'
}): Uint8Array {
  if (bodyEncoding === 'utf8') return new TextEncoder().encode(body)
  return Uint8Array.from(atob(body), (sign) => sign.charCodeAt(0))
}

/** A line of a hex view: its offset, its bytes, and those of them that are printable. */
export type HexLine = { offset: string; bytes: string; letters: string }

export function formatHexLine(bytes: Uint8Array, at: number, width: number): HexLine {
  const part = [...bytes.subarray(at, at + width)]
  return {
    offset: at.toString(16).padStart(6, '0'),
    bytes: part.map((byte) => byte.toString(16).padStart(2, '0')).join(' '),
    letters: part
      .map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '·'))
      .join(''),
  }
}
