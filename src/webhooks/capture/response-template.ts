import { createHmac } from 'node:crypto'
import { MAX_TEMPLATE_VALUE_BYTES, MAX_TEMPLATE_VALUES } from '../limits.ts'
import { findHeader, type Header } from '../headers.ts'

declare global {
  /** ECMAScript’s JSON.parse with the source text of values, which TypeScript’s library lacks. */
  interface JSON {
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
  }
}

/** The values that a template can use. */
export type TemplateContext = {
  query: string
  headers: Header[]
  body: Buffer
  /**
   * The endpoint’s response secret; never the secret that verifies senders, because senders choose
   * what is signed.
   */
  secret: string
}

/**
 * Matches `{{body.challenge}}`, `{{query.hub.challenge}}`, `{{header.x-hook}}` and `{{body}}`, each
 * also as `{{hmac_sha256 …}}`.
 */
const PLACEHOLDER =
  /\{\{\s*(?:(hmac_sha256|hmac_sha256_base64)\s+)?(?:(body|query|header)\.([^{}\s]+)|(body))\s*\}\}/g

/**
 * Fills in values of the request, for services that expect their challenge back: the same bytes as
 * they came. Missing values become empty, and so do values beyond the limit of a response; other
 * braces stay.
 * @param type the media type of the response: values in JSON and markup are escaped
 * @returns one byte per character
 */
export function fillTemplate(template: string, type: string, context: TemplateContext): string {
  const escape = escapeFor(type)
  let body: unknown
  let [filled, free] = [0, MAX_TEMPLATE_VALUE_BYTES]
  const bodyOnce = () => (body ??= parseBody(context.body))
  return bytesOf(template).replace(
    PLACEHOLDER,
    (_all, hmac?: string, from?: string, name?: string) => {
      if (++filled > MAX_TEMPLATE_VALUES) return ''
      const value =
        from === undefined
          ? context.body.toString('latin1')
          : valueOf(from, name ?? '', context, bodyOnce)
      const text = escape(hmac === undefined ? value : digest(hmac, value, context.secret))
      if (text.length > free) return ''
      free -= text.length
      return text
    },
  )
}

/** The UTF-8 of a text, one byte per character. */
const bytesOf = (text: string) => Buffer.from(text).toString('latin1')

/** The text of UTF-8 with one byte per character. */
const textOf = (bytes: string) => Buffer.from(bytes, 'latin1').toString('utf8')

function valueOf(
  from: string,
  name: string,
  context: TemplateContext,
  body: () => unknown,
): string {
  if (from === 'query') return parseForm(context.query).get(name) ?? ''
  if (from === 'header') return findHeader(context.headers, name) ?? ''
  const fields = body()
  return fields instanceof Map
    ? String(fields.get(name) ?? '')
    : asBytes(textOf(name).split('.').reduce(step, fields))
}

function step(value: unknown, key: string): unknown {
  const isObject = typeof value === 'object' && value !== null && !JSON.isRawJSON(value)
  return isObject && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
}

function asBytes(value: unknown): string {
  if (value === undefined || value === null) return ''
  return bytesOf(typeof value === 'string' ? value : JSON.stringify(value))
}

/**
 * Parses the body as JSON or, failing that, as the fields of a form. Numbers stay as they were
 * written: JavaScript would round those of more than 15 digits.
 */
function parseBody(body: Buffer): unknown {
  try {
    // RFC 8259, 8.1: a parser may ignore a byte order mark.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    return JSON.parse(text, (_key, value: unknown, { source }) =>
      typeof value === 'number' && source !== undefined ? JSON.rawJSON(source) : value,
    )
  } catch {
    return parseForm(body.toString('latin1'))
  }
}

/** The fields of `application/x-www-form-urlencoded`, names and values one byte per character. */
function parseForm(encoded: string): Map<string, string> {
  const fields = new Map<string, string>()
  for (const field of encoded.split('&')) {
    const equals = field.indexOf('=')
    const name = decodeForm(equals === -1 ? field : field.slice(0, equals))
    // Of several fields with a name the first counts.
    if (!fields.has(name))
      fields.set(name, equals === -1 ? '' : decodeForm(field.slice(equals + 1)))
  }
  return fields
}

const decodeForm = (encoded: string) =>
  encoded
    .replaceAll('+', ' ')
    .replace(/%([\da-f]{2})/gi, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16)))

function digest(name: string, value: string, secret: string): string {
  return createHmac('sha256', secret)
    .update(value, 'latin1')
    .digest(name === 'hmac_sha256' ? 'hex' : 'base64')
}

const MARKUP: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Characters that XML 1.0, 2.2 does not allow. */
// oxlint-disable-next-line no-control-regex
const NOT_IN_XML = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

function escapeFor(type: string): (value: string) => string {
  if (/[/+]json\b/i.test(type))
    return (value) => bytesOf(JSON.stringify(textOf(value)).slice(1, -1))
  if (/html|xml/i.test(type))
    return (value) =>
      bytesOf(
        textOf(value)
          .replace(NOT_IN_XML, '')
          .replace(/[&<>"']/g, (sign) => MARKUP[sign] ?? sign),
      )
  return (value) => value
}
