import type { Parameter, Schema } from './openapi.ts'
import type { Content } from './reference.ts'
import { resolve, type Schemas } from './schema.ts'

/** Depth at which a generated example ends; also the end of schemas that contain themselves. */
const MAX_DEPTH = 7

const BY_FORMAT: Record<string, string> = {
  'date-time': '2026-11-21T12:00:00.000Z',
  date: '2026-11-21',
  uuid: '01a1f0c2-6f5e-7c39-9d5b-0c4f5a1c2d3e',
  email: 'alice@example.com',
  ipv4: '192.0.2.7',
  ipv6: '2001:db8::7',
  ip: '192.0.2.7',
  uri: 'https://example.com/',
  hostname: 'mail.example.com',
}

/** Values for fields whose name says more than their schema. Documentation addresses only. */
const BY_NAME: Record<string, string> = {
  address: '192.0.2.7',
  code: '123456',
  currentPassword: 'current-password',
  dnsbl: 'zen.spamhaus.org',
  domain: 'example.com',
  email: 'alice@example.com',
  folder: 'INBOX',
  host: 'mail.example.com',
  ip: '192.0.2.7',
  label: 'Office',
  message: 'Text of the message',
  name: 'Alice',
  newPassword: 'new-password',
  password: 'password',
  selector: 'default',
  service: 'ssh',
  since: '2026-11-21T12:00:00.000Z',
  statusUrl: '/api/v1/imap/migrate/01a1f0c2-6f5e-7c39-9d5b-0c4f5a1c2d3e',
  target: 'example.com',
  timeZone: 'Europe/Berlin',
  token: 'Ab3dE5gH7j',
  url: 'https://example.com/',
  user: 'alice@example.com',
  userAgent: 'Mozilla/5.0',
}

/** For fields whose pattern or length allows none of the above. */
const OTHER_TEXTS = ['string', '22:00', '123456', '192.0.2.7', 'Ab3dE5gH7j', 'example.com', 'text']

/**
 * The example of a body: the one of the document, or one made from the schema.
 * @param isRequest whether optional fields are left out
 */
export function exampleOf(content: Content, schemas: Schemas, isRequest = false): unknown {
  if (content.example !== undefined) return content.example
  return valueOf(content.schema, schemas, { isRequest, name: '', depth: 0 })
}

/** The example of a parameter. */
export function parameterExample({ name, schema }: Parameter, schemas: Schemas): unknown {
  return valueOf(schema, schemas, { isRequest: true, name, depth: 0 })
}

type Place = { isRequest: boolean; name: string; depth: number }

function valueOf(schema: Schema, schemas: Schemas, place: Place): unknown {
  const resolved = resolve(schema, schemas)
  const given = resolved.example ?? resolved.examples?.[0] ?? resolved.const ?? resolved.default
  if (given !== undefined) return given
  if (resolved.enum) return resolved.enum[0]
  const options = resolved.anyOf ?? resolved.oneOf
  if (options) {
    const [first = {}] = options.filter((option) => resolve(option, schemas).type !== 'null')
    return valueOf(first, schemas, place)
  }
  const [type] = [resolved.type].flat()
  switch (type) {
    case 'object':
      return objectOf(resolved, schemas, place)
    case 'array':
      return place.depth >= MAX_DEPTH || !resolved.items
        ? []
        : [valueOf(resolved.items, schemas, { ...place, depth: place.depth + 1 })]
    case 'string':
      return textOf(resolved, place.name)
    case 'integer':
    case 'number':
      return Math.max(resolved.minimum ?? 0, Math.min(1, resolved.maximum ?? 1))
    case 'boolean':
      return true
    default:
      return type === undefined && place.depth === 0 ? {} : null
  }
}

function objectOf(schema: Schema, schemas: Schemas, place: Place): Record<string, unknown> {
  const { properties = {}, required = [] } = schema
  if (place.depth >= MAX_DEPTH) return {}
  const isShort = place.isRequest && required.length > 0
  const names = isShort ? required : Object.keys(properties)
  const entries = names.map((name) => {
    const below = { ...place, name, depth: place.depth + 1 }
    return [name, valueOf(properties[name] ?? {}, schemas, below)] as const
  })
  return Object.fromEntries(entries)
}

/** The first of the likely texts that the schema allows. */
function textOf(schema: Schema, name: string): string {
  const { format = '', pattern, minLength = 0, maxLength = Infinity } = schema
  const likely = [BY_FORMAT[format], BY_NAME[name], ...OTHER_TEXTS].filter(
    (text) => text !== undefined,
  )
  const fits = (text: string) =>
    text.length >= minLength && text.length <= maxLength && matches(text, pattern)
  return likely.find(fits) ?? 'string'.padEnd(minLength, 'x').slice(0, maxLength)
}

/** A pattern that this browser cannot read allows everything. */
function matches(text: string, pattern: string | undefined): boolean {
  if (pattern === undefined) return true
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    return true
  }
}
