import { createHmac } from 'node:crypto'
import { MAX_TEMPLATE_VALUE_CHARS, MAX_TEMPLATE_VALUES } from '../limits.ts'
import { findHeader, type Header } from '../headers.ts'

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
 * Fills in values of the request, for services that expect their challenge back. Missing values
 * become empty; other braces stay.
 * @param type the media type of the response: values in JSON and markup are escaped
 */
export function fillTemplate(template: string, type: string, context: TemplateContext): string {
  const escape = escapeFor(type)
  let body: unknown
  let filled = 0
  const bodyOnce = () => (body ??= parseBody(context))
  return template.replace(PLACEHOLDER, (_all, hmac?: string, from?: string, name?: string) => {
    if (++filled > MAX_TEMPLATE_VALUES) return ''
    const value = from === undefined ? text(context) : valueOf(from, name ?? '', context, bodyOnce)
    return escape(
      hmac === undefined
        ? value.slice(0, MAX_TEMPLATE_VALUE_CHARS)
        : digest(hmac, value, context.secret),
    )
  })
}

function valueOf(
  from: string,
  name: string,
  context: TemplateContext,
  body: () => unknown,
): string {
  if (from === 'query') return new URLSearchParams(context.query).get(name) ?? ''
  if (from === 'header') return findHeader(context.headers, name) ?? ''
  return asText(name.split('.').reduce(step, body()))
}

function step(value: unknown, key: string): unknown {
  const isObject = typeof value === 'object' && value !== null
  return isObject && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Parses the body as JSON or, failing that, as the fields of a form. */
function parseBody(context: TemplateContext): unknown {
  try {
    return JSON.parse(text(context))
  } catch {
    return Object.fromEntries(new URLSearchParams(text(context)))
  }
}

function text({ body }: TemplateContext): string {
  return body.toString('utf8')
}

function digest(name: string, value: string, secret: string): string {
  return createHmac('sha256', secret)
    .update(value)
    .digest(name === 'hmac_sha256' ? 'hex' : 'base64')
}

const MARKUP: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeFor(type: string): (value: string) => string {
  if (/[/+]json\b/i.test(type)) return (value) => JSON.stringify(value).slice(1, -1)
  if (/html|xml/i.test(type))
    return (value) => value.replace(/[&<>"']/g, (sign) => MARKUP[sign] ?? sign)
  return (value) => value
}
