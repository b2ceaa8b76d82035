import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { anyText } from '../any-text.ts'

/** The part of JSON Schema that the routes use. */
export type Schema = {
  type?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  allOf?: Schema[]
  oneOf?: Schema[]
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  maxLength?: number
  maxItems?: number
}

const HOSTILE_TEXT = fc.oneof(
  anyText({ maxLength: 40 }),
  fc.constantFrom(
    '',
    '\0',
    '\ud800',
    '../../etc/passwd',
    "' or 1=1--",
    '%00',
    '💥'.repeat(2_000),
    '0',
    '-1',
    '1e309',
    'NaN',
    '__proto__',
    'constructor',
  ),
)

const HOSTILE = fc.oneof(
  HOSTILE_TEXT,
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom(null, -1, 2 ** 31, 2 ** 53, 1e308, [], {}, true, [[[[]]]]),
)

const FORMATS: Record<string, Arbitrary<string>> = {
  uuid: fc.uuid(),
  email: fc.emailAddress(),
  'date-time': fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  date: fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10)),
  uri: fc.webUrl(),
  ipv4: fc.ipV4(),
}

/** Generates values that mostly match the schema; one in eight, at any depth, is arbitrary. */
export function valueOf(schema: Schema): Arbitrary<unknown> {
  return fc.oneof({ weight: 7, arbitrary: properOf(schema) }, { weight: 1, arbitrary: HOSTILE })
}

/** A text for a path or a query. */
export function textOf(schema: Schema): Arbitrary<string> {
  return fc.oneof(
    { weight: 3, arbitrary: properOf(schema).map(asText) },
    { weight: 1, arbitrary: HOSTILE_TEXT },
  )
}

const asText = (value: unknown) =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '')

function properOf(schema: Schema): Arbitrary<unknown> {
  const several = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (several) return fc.oneof(...several.map(valueOf))
  if (schema.type === 'object' || schema.properties) return objectOf(schema)
  if (schema.type === 'array')
    return fc.array(valueOf(schema.items ?? {}), { maxLength: Math.min(schema.maxItems ?? 4, 4) })
  if (schema.type === 'integer')
    return fc.integer({
      min: schema.minimum ?? -10,
      max: Math.max(schema.maximum ?? 1_000, schema.minimum ?? -10),
    })
  if (schema.type === 'number')
    return fc.double({ min: schema.minimum ?? -10, max: schema.maximum ?? 1_000, noNaN: true })
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'null') return fc.constant(null)
  if (schema.type === 'string') return stringOf(schema)
  return HOSTILE
}

function objectOf({ properties = {}, required = [] }: Schema): Arbitrary<object> {
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, valueOf(schema)]),
  )
  return fc.record(fields, { requiredKeys: required.filter((name) => name in fields) })
}

function stringOf({ format = '', pattern, maxLength = 60 }: Schema): Arbitrary<string> {
  const texts = [
    anyText({ maxLength: Math.min(maxLength, 60) }),
    fc.constantFrom(
      'example.test',
      '8.8.4.4',
      '2001:db8::1',
      '127.0.0.1',
      'ssh',
      'INBOX',
      'https://example.test/x',
      '10.0.0.0/8',
    ),
  ]
  if (FORMATS[format]) return FORMATS[format]
  if (pattern !== undefined) {
    try {
      return fc.stringMatching(new RegExp(pattern))
    } catch {
      // A pattern with classes that fast-check cannot make texts of.
    }
  }
  return fc.oneof(...texts)
}
