/**
 * Mailbox names are bytes. A `ByteString` has one character (U+0000 to U+00FF) for each byte,
 * exactly as the server listed it; a path is its decoded form.
 */
export type ByteString = string

/**
 * Decodes a listed name: modified UTF-7 (RFC 3501, 5.1.3), else raw UTF-8, else the bytes
 * unchanged.
 */
export function decodeMailbox(listed: ByteString): string {
  if (/[^\x20-\x7e]/.test(listed)) return decodeUtf8(listed) ?? listed
  return decodeUtf7(listed) ?? listed
}

/** Encodes a path that no server has listed in modified UTF-7. */
export function encodeMailbox(path: string): ByteString {
  return path.replace(/&/g, '&-').replace(/[^\x20-\x7e]+/gu, (run) => `&${base64Of(run)}-`)
}

/** Whether a name can be sent: CR, LF and NUL cannot be quoted. */
export function isSendable(name: ByteString): boolean {
  return !/[\0\r\n]/.test(name) && !/[^\0-\xff]/.test(name)
}

function base64Of(run: string): string {
  const utf16 = Buffer.from(run, 'utf16le').swap16()
  return utf16.toString('base64').replace(/=+$/, '').replace(/\//g, ',')
}

function decodeUtf7(listed: ByteString): string | undefined {
  let sound = true
  const path = listed.replace(/&([^-]*)(-?)/g, (_, encoded: string, end: string) => {
    if (encoded === '' && end === '-') return '&'
    const run = end === '-' ? textOf(encoded) : undefined
    if (run === undefined) sound = false
    return run ?? ''
  })
  return sound ? path : undefined
}

/**
 * Undefined where the bytes are no whole number of UTF-16 units, or not in the canonical encoding.
 */
function textOf(encoded: string): string | undefined {
  const bytes = Buffer.from(encoded.replace(/,/g, '/'), 'base64')
  if (bytes.length === 0 || bytes.length % 2 === 1) return undefined
  const text = bytes.swap16().toString('utf16le')
  return base64Of(text) === encoded && text.isWellFormed() ? text : undefined
}

function decodeUtf8(listed: ByteString): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(listed, 'latin1'))
  } catch {
    return undefined
  }
}
