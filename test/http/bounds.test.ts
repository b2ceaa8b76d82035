import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startHouse, type House } from '../house.ts'

type Schema = {
  $ref?: string
  type?: string
  format?: string
  enum?: unknown[]
  const?: unknown
  maxLength?: number
  maxItems?: number
  maxProperties?: number
  uniqueItems?: boolean
  propertyNames?: { maxLength?: number }
  properties?: Record<string, Schema>
  additionalProperties?: Schema | boolean
  items?: Schema
  anyOf?: Schema[]
  [keyword: string]: unknown
}
type Operation = {
  parameters?: { name: string; in: string; schema: Schema }[]
  requestBody?: { content: Record<string, { schema?: Schema }> }
}
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

/** Forms of text that are short by themselves. */
const SHORT_FORMATS = new Set(['uuid', 'date', 'ipv4', 'ipv6'])

/** Bodies that are read as bytes or lines, whose route has a limit of its own. */
const BYTES = /^(POST \/api\/v1\/dmarc\/reports|POST \/api\/v1\/abuse\/report\/bulk|\w+ \/webhooks\/\{token\}) /

/** Values that are taken as they are: what a check answered is compared with its receipt, before anything is done with it. */
const ANYTHING = /^POST \/api\/v1\/shared-checks body\.results\.\*\.data\.\*$/

let house: House
let document: Document
beforeAll(async () => {
  house = await startHouse()
  document = (await (await house.request('/openapi.json')).json()) as Document
})
afterAll(() => house.stop())

/** Every place of a schema that takes as much as somebody sends. */
function unbounded(schema: Schema, path: string): string[] {
  if (schema.$ref) return unbounded(resolve(schema.$ref), path)
  const own = boundOf(schema) ? [] : [path]
  const { properties = {}, items, anyOf = [], additionalProperties } = schema
  return [
    ...own,
    ...Object.entries(properties).flatMap(([name, one]) => unbounded(one, `${path}.${name}`)),
    ...(items ? unbounded(items, `${path}.*`) : []),
    ...(typeof additionalProperties === 'object' ? unbounded(additionalProperties, `${path}.*`) : []),
    ...anyOf.flatMap((branch) => unbounded({ ...withoutChoice(schema), ...branch }, path)),
  ]
}

function withoutChoice({ anyOf: _anyOf, properties: _properties, ...rest }: Schema): Schema {
  return rest
}

function resolve(ref: string): Schema {
  return document.components.schemas[ref.replace('#/components/schemas/', '')] as Schema
}

function boundOf({ type, enum: words, const: word, ...schema }: Schema): boolean {
  if (words || word !== undefined) return true
  switch (type) {
    case 'string':
      return schema.maxLength !== undefined || Boolean(schema.anyOf) || SHORT_FORMATS.has(schema.format ?? '')
    case 'array':
      return schema.maxItems !== undefined
    case 'object':
      return (
        !schema.additionalProperties ||
        (schema.maxProperties !== undefined && schema.propertyNames?.maxLength !== undefined)
      )
    case undefined:
      return Boolean(schema.anyOf)
    default:
      return true
  }
}

/** What every route reads of a request: its parameters and its bodies. */
function requestSchemas() {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [], requestBody }]) => {
      const route = `${method.toUpperCase()} ${path}`
      const bodies = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => (schema ? [schema] : []))
      return [
        ...parameters.map((one) => ({ name: `${route} ${one.in}.${one.name}`, schema: one.schema })),
        ...bodies.map((schema) => ({ name: `${route} body`, schema })),
      ]
    }),
  )
}

describe('a schema of a request', () => {
  it('says how much it takes, of every array and text', () => {
    const schemas = requestSchemas()
    expect(schemas.length).toBeGreaterThan(150)
    const endless = schemas.flatMap(({ name, schema }) => unbounded(schema, name))
    expect(endless.filter((place) => !BYTES.test(`${place} `) && !ANYTHING.test(place))).toEqual([])
  })

  it('is found out by this test when it does not', () => {
    const text: Schema = { type: 'string', pattern: '^a+$' }
    const schema: Schema = {
      type: 'object',
      properties: {
        text,
        list: { type: 'array', items: { type: 'string', maxLength: 5 } },
        names: { type: 'object', maxProperties: 5, additionalProperties: { type: 'integer' } },
        choice: { anyOf: [{ type: 'null' }, { type: 'array', maxItems: 2, items: text }] },
        anything: {},
        fine: { type: 'string', maxLength: 5 },
        address: { type: 'string', anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] },
        word: { type: 'string', enum: ['a'] },
        moment: { type: 'string', format: 'date-time' },
      },
    }
    expect(unbounded(schema, 'body')).toEqual([
      'body.text',
      'body.list',
      'body.names',
      'body.choice.*',
      'body.anything',
      'body.moment',
    ])
  })
})
