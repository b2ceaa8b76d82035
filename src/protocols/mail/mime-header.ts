import { isUtf8 } from 'node:buffer'
import { unfold, type HeaderField } from './message.ts'

/** A value with parameters, such as Content-Type (RFC 2045, 5.1); names and value in lower case. */
export type ParameterizedValue = { value: string; parameters: Map<string, string> }

/** More parameters than any field has. */
const MAX_PARAMETERS = 50

/**
 * Parses `text/plain; charset="utf-8"`, also in the pieces and encodings of RFC 2231. Never throws:
 * parts that cannot be read are left out.
 */
export function parseParameters(text: string): ParameterizedValue {
  const [value = '', ...pieces] = splitOutsideQuotes(text)
  const given = pieces.slice(0, MAX_PARAMETERS).flatMap((piece) => {
    const equals = piece.indexOf('=')
    if (equals < 0) return []
    return [
      [piece.slice(0, equals).trim().toLowerCase(), unquote(piece.slice(equals + 1))] as const,
    ]
  })
  return { value: value.trim().toLowerCase(), parameters: joinPieces(given) }
}

/** Splits at semicolons that stand in no quoted string and no comment. */
function splitOutsideQuotes(text: string): string[] {
  const pieces: string[] = []
  let piece = ''
  let isQuoted = false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '\\' && (isQuoted || depth > 0)) {
      if (depth === 0) piece += character + (text[at + 1] ?? '')
      at++
      continue
    }
    if (character === '"' && depth === 0) isQuoted = !isQuoted
    if (!isQuoted && character === '(') depth++
    if (depth > 0) {
      if (character === ')') depth--
      continue
    }
    if (character === ';' && !isQuoted) {
      pieces.push(piece)
      piece = ''
    } else piece += character
  }
  return [...pieces, piece]
}

function unquote(text: string): string {
  const trimmed = text.trim()
  if (!trimmed.startsWith('"')) return trimmed
  return trimmed.replace(/^"/, '').replace(/"$/, '').replaceAll(/\\(.)/gs, '$1')
}

/** RFC 2231: `filename*0*=utf-8''a%20b; filename*1="c"` is one parameter. */
function joinPieces(given: (readonly [string, string])[]): Map<string, string> {
  const parameters = new Map<string, string>()
  for (const [name, value] of given) {
    const [, base = name, isExtended] = /^([^*]+)(?:\*\d{1,2})?(\*)?$/.exec(name) ?? []
    const isFirst = !/\*[1-9]\d?\*?$/.test(name)
    const text = isExtended ? decodeExtended(value, isFirst) : value
    if (isFirst && parameters.has(base)) continue
    parameters.set(base, (parameters.get(base) ?? '') + text)
  }
  return parameters
}

function decodeExtended(value: string, isFirst: boolean): string {
  const [, charset = 'utf-8', encoded = value] =
    (isFirst && /^([^']*)'[^']*'(.*)$/s.exec(value)) || []
  const bytes = encoded.replaceAll(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCodePoint(Number.parseInt(hex, 16)),
  )
  return decodeBytes(Buffer.from(bytes, 'latin1'), charset) ?? encoded
}

/** The value of the first field of a name, unfolded and trimmed; undefined without one. */
export function firstValue(fields: readonly HeaderField[], name: string): string | undefined {
  const field = fields.find((each) => each.name === name)
  return field && unfold(field.raw.slice(field.raw.indexOf(':') + 1)).trim()
}

/** Decodes bytes; null for a charset that is not known. Invalid bytes become U+FFFD. */
export function decodeBytes(bytes: Uint8Array, charset: string): string | null {
  try {
    return new TextDecoder(charset.trim() || 'utf-8').decode(bytes)
  } catch {
    return null
  }
}

const ENCODED_WORD = /=\?([^?\s]{1,60})\?([bq])\?([^?]{0,2000})\?=/gi

/** The text of a field’s value with its encoded words decoded (RFC 2047). */
export function decodeWords(latin1: string): string {
  const joined = latin1.replaceAll(/(\?=)[ \t]+(=\?)/g, '$1$2')
  const text = joined.replaceAll(
    ENCODED_WORD,
    (word, charset: string, encoding: string, content: string) =>
      decodeBytes(wordBytes(encoding, content), charset.split('*')[0] ?? '') ?? word,
  )
  return text === joined ? (decodeBytes(Buffer.from(latin1, 'latin1'), 'utf-8') ?? latin1) : text
}

function wordBytes(encoding: string, content: string): Buffer {
  if (encoding.toLowerCase() === 'b') return Buffer.from(content, 'base64')
  const raw = content
    .replaceAll('_', ' ')
    .replaceAll(/=([\da-f]{2})/gi, (_, hex: string) =>
      String.fromCodePoint(Number.parseInt(hex, 16)),
    )
  return Buffer.from(raw, 'latin1')
}

/**
 * Encoded words that cannot be decoded on their own, as they stand in the field. One that ends within
 * a character is among them (RFC 2047, 5).
 */
export function invalidWords(latin1: string): string[] {
  const candidates = latin1.match(/=\?[^?\s]*\?[^?\s]*\?[^?]*\?=/g) ?? []
  return candidates.filter((word) => {
    const [, charset = '', encoding = '', content = ''] =
      /^=\?([^?]*)\?([^?]*)\?([^?]*)\?=$/.exec(word) ?? []
    const isKnown = decodeBytes(new Uint8Array(), charset.split('*')[0] || 'x-none') !== null
    if (!isKnown || !/^[bq]$/i.test(encoding)) return true
    const isForm =
      encoding.toLowerCase() === 'q'
        ? !/[ \t]|=(?![\da-f]{2})/i.test(content)
        : /^[a-z\d+/]*={0,2}$/i.test(content)
    return !isForm || (/^utf-?8\b/i.test(charset) && !isUtf8(wordBytes(encoding, content)))
  })
}
