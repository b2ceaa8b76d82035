/** A field of a submitted form. */
export type Field = {
  name: string
  /** Of a file, its name. */
  fileName: string | null
  type: string | null
  /** Null where it is no text. */
  value: string | null
  bytes: number
}

const DECODE = new TextDecoder('utf-8', { fatal: true })

/** @returns the fields of a form as it was sent; null when the content type names no form */
export function parseFormFields(contentType: string | null, bytes: Uint8Array): Field[] | null {
  const type = contentType ?? ''
  if (/^application\/x-www-form-urlencoded\b/i.test(type)) return urlencoded(bytes)
  const boundary = /^multipart\/form-data\b.*;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(type)
  return boundary ? multipart(bytes, boundary[1] ?? boundary[2] ?? '') : null
}

/** The fields behind the `?` of an address, in their order. */
export function parseQueryFields(query: string): [name: string, value: string][] {
  return [...new URLSearchParams(query)]
}

function urlencoded(bytes: Uint8Array): Field[] {
  return parseQueryFields(new TextDecoder().decode(bytes)).map(([name, value]) => ({
    name,
    fileName: null,
    type: null,
    value,
    bytes: new TextEncoder().encode(value).length,
  }))
}

/** RFC 7578 over RFC 2046, 5.1: parts between delimiter lines, each with its headers. */
function multipart(bytes: Uint8Array, boundary: string): Field[] {
  // A character a byte, so that places in the text are places in the bytes.
  const text = latinOf(bytes)
  const parts = text.split(
    new RegExp(`(?:^|\\r\\n)--${boundary.replace(/[^\w ]/g, '\\$&')}(?:--)?[ \\t]*(?:\\r\\n|$)`),
  )
  let at = 0
  return parts.slice(1).flatMap((part) => {
    at = text.indexOf(part, at)
    const end = part.indexOf('\r\n\r\n')
    if (end < 0) return []
    const content = bytes.subarray(at + end + 4, at + part.length)
    at += part.length
    return [fieldOf(headersOf(part.slice(0, end)), content)]
  })
}

const CHUNK = 8_192

function latinOf(bytes: Uint8Array): string {
  const chunks: string[] = []
  for (let at = 0; at < bytes.length; at += CHUNK) {
    chunks.push(String.fromCharCode(...bytes.subarray(at, at + CHUNK)))
  }
  return chunks.join('')
}

function headersOf(text: string): Map<string, string> {
  const lines = text.split('\r\n').map((line) => line.split(/:(.*)/s))
  return new Map(lines.map(([name = '', value = '']) => [name.trim().toLowerCase(), value.trim()]))
}

function fieldOf(headers: Map<string, string>, content: Uint8Array): Field {
  const disposition = headers.get('content-disposition') ?? ''
  const parameter = (name: string) =>
    new RegExp(`;\\s*${name}="((?:[^"\\\\]|\\\\.)*)"`, 'i').exec(disposition)?.[1]
  return {
    name: fromBytes(parameter('name') ?? ''),
    fileName: parameter('filename') === undefined ? null : fromBytes(parameter('filename') ?? ''),
    type: headers.get('content-type') ?? null,
    value: textOrNull(content),
    bytes: content.length,
  }
}

/** Names were read a character a byte; browsers send them in UTF-8. */
function fromBytes(latin: string): string {
  return textOrNull(Uint8Array.from(latin, (sign) => sign.charCodeAt(0))) ?? latin
}

function textOrNull(bytes: Uint8Array): string | null {
  try {
    const text = DECODE.decode(bytes)
    return text.includes('\0') ? null : text
  } catch {
    return null
  }
}
