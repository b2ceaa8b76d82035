import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

type Schema = Record<string, unknown> & {
  properties?: Record<string, Schema>
  items?: Schema
  $ref?: string
}
type Operation = {
  parameters?: { in: string; name: string; schema: Schema }[]
  requestBody?: { content: Record<string, { schema?: Schema }> }
}
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas?: Record<string, Schema> }
}

const document = JSON.parse(readFileSync('openapi.json', 'utf8')) as Document

/** Formats that limit the length of their texts. */
const BOUNDED_FORMATS = ['uuid', 'date-time', 'date', 'ipv4', 'ipv6']

const resolved = (schema: Schema): Schema =>
  schema.$ref === undefined
    ? schema
    : (document.components.schemas?.[schema.$ref.split('/').at(-1) as string] ?? schema)
const typesOf = (schema: Schema) => [schema['type']].flat()

/** Where a schema allows a text, a list, a record or a number of any size. */
function unboundedIn(given: Schema, where: string): string[] {
  const schema = resolved(given)
  const isFixed =
    'enum' in schema || 'const' in schema || BOUNDED_FORMATS.includes(String(schema['format']))
  const wrong: string[] = []
  if (typesOf(schema).includes('string') && !isFixed && !('maxLength' in schema))
    wrong.push(`${where} (text)`)
  if (typesOf(schema).includes('array') && !('maxItems' in schema)) wrong.push(`${where} (list)`)
  if (
    typesOf(schema).some((type) => type === 'integer' || type === 'number') &&
    !isFixed &&
    !('maximum' in schema)
  )
    wrong.push(`${where} (number)`)
  const rest = [
    schema['additionalProperties'],
    ...Object.values((schema['patternProperties'] as object) ?? {}),
  ]
  const ofRecord = rest.filter((one): one is Schema => typeof one === 'object' && one !== null)
  if (ofRecord.length > 0 && !('maxProperties' in schema)) wrong.push(`${where} (record)`)
  const choices = ['anyOf', 'oneOf', 'allOf'].flatMap(
    (key) => (schema[key] as Schema[] | undefined) ?? [],
  )
  return [
    ...wrong,
    ...Object.entries(schema.properties ?? {}).flatMap(([name, one]) =>
      unboundedIn(one, `${where}.${name}`),
    ),
    ...(schema.items ? unboundedIn(schema.items, `${where}[]`) : []),
    ...ofRecord.flatMap((one) => unboundedIn(one, `${where}.*`)),
    ...choices.flatMap((one) => unboundedIn(one, where)),
  ]
}

describe('the schemas of requests', () => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  )

  it('limit each text, list, record and number', () => {
    const unbounded = operations.flatMap(({ name, operation }) => [
      ...(operation.parameters ?? []).flatMap((one) =>
        unboundedIn(one.schema, `${name} ${one.in} ${one.name}`),
      ),
      ...Object.values(operation.requestBody?.content ?? {}).flatMap(({ schema = {} }) =>
        unboundedIn(schema, `${name} body`),
      ),
    ])
    expect(operations.length).toBeGreaterThan(90)
    expect(unbounded).toEqual([])
  })

  it('are checked by a walk that finds missing limits', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'array', maxItems: 2, items: { type: 'string' } },
      },
      additionalProperties: { type: 'number' },
    }
    expect(unboundedIn(schema, 'x')).toEqual([
      'x (record)',
      'x.a (text)',
      'x.b[] (text)',
      'x.* (number)',
    ])
  })
})
