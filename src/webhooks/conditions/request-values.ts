import { MAX_FIELD_CHARS } from '../limits.ts'
import { findHeader, type Header } from '../headers.ts'
import { once } from '../../once.ts'

/** What conditions and keys read of a request. */
export type ReadableRequest = {
  method: string
  path: string
  query: string
  headers: Header[]
  body: Buffer
  ip: string
}

/**
 * The place of a value in a request: `method`, `path`, `ip`, `verified`, `query.name`,
 * `headers.name`, `body`, or `body/a/0`, a JSON Pointer (RFC 6901) below the body.
 */
export type Field =
  | { kind: 'method' | 'path' | 'ip' | 'verified' | 'text' }
  | { kind: 'query' | 'header'; name: string }
  | { kind: 'json'; pointer: string[] }

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/

/** Parses the place of a value; null for one that does not exist. */
export function parseField(text: string): Field | null {
  if (text.length > MAX_FIELD_CHARS) return null
  if (text === 'body') return { kind: 'text' }
  if (text === 'method' || text === 'path' || text === 'ip' || text === 'verified')
    return { kind: text }
  if (text.startsWith('query.') && text.length > 6) return { kind: 'query', name: text.slice(6) }
  const header = /^headers?\.(.+)$/s.exec(text)?.[1]
  if (header !== undefined)
    return HEADER_NAME.test(header) ? { kind: 'header', name: header.toLowerCase() } : null
  if (!text.startsWith('body/')) return null
  const steps = text.slice(5).split('/')
  if (steps.some((step) => /~(?![01])/.test(step))) return null
  return {
    kind: 'json',
    pointer: steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')),
  }
}

/** The values of one request. What is costly, such as its JSON, is read once, when it is needed. */
export type RequestValues = {
  /** The value at a place; undefined when the request has none. */
  valueOf(field: Field): unknown
  /**
   * The value as text; undefined when the request has none, or for a list or an object. Numbers are
   * as the sender wrote them: as numbers, ids of more than 15 digits would be rounded and equal.
   */
  textOf(field: Field): string | undefined
}

/**
 * @param isVerified verifies the signature of the sender; false where the endpoint verifies none
 */
export function createRequestValues(
  request: ReadableRequest,
  isVerified: () => boolean,
): RequestValues {
  const { method, path, ip, query, headers, body } = request
  const json = once(() => parseJson(body, false))
  const exactJson = once(() => parseJson(body, true))
  const text = once(() => body.toString('utf8'))
  const fields = once(() => parseParameters(query))
  const verified = once(isVerified)

  function valueOf(field: Field): unknown {
    switch (field.kind) {
      case 'method':
        return method
      case 'path':
        return path
      case 'ip':
        return ip
      case 'verified':
        return verified()
      case 'text':
        return text()
      case 'query':
        return fields().get(field.name)
      case 'header':
        return utf8Of(findHeader(headers, field.name))
      default:
        return find(json(), field.pointer)
    }
  }

  return {
    valueOf,
    textOf(field) {
      const value = valueOf(field)
      if (typeof value === 'string') return value
      if (typeof value === 'boolean' || value === null) return String(value)
      if (typeof value !== 'number' || field.kind !== 'json') return undefined
      const exact = find(exactJson(), field.pointer)
      return JSON.isRawJSON(exact) ? JSON.stringify(exact) : String(value)
    },
  }
}

/** The first of several parameters with a name counts, as in templates. */
function parseParameters(query: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query))
    if (!found.has(name)) found.set(name, value)
  return found
}

/** Header values have one byte per character. */
function utf8Of(value: string | undefined): string | undefined {
  return value === undefined ? undefined : Buffer.from(value, 'latin1').toString('utf8')
}

/** @param isExact numbers stay as they were written, which takes ten times as long */
function parseJson(body: Buffer, isExact: boolean): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    if (!isExact) return JSON.parse(text)
    return JSON.parse(text, (_key, value: unknown, { source }) =>
      typeof value === 'number' && source !== undefined ? JSON.rawJSON(source) : value,
    )
  } catch {
    return undefined
  }
}

/** Own properties only: `__proto__` is a key like any other, and `constructor` is none. */
function find(value: unknown, pointer: string[]): unknown {
  let found = value
  for (const step of pointer) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined
    // Arrays have more properties of their own than their elements.
    if (Array.isArray(found) && !/^(?:0|[1-9]\d*)$/.test(step)) return undefined
    found = (found as Record<string, unknown>)[step]
  }
  return found
}
