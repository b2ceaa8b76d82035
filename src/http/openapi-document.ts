import { Failure } from './schema.ts'
import { operationIdOf } from './operation-id.ts'

type Schema = Record<string, unknown>
type Media = { schema?: Schema; [keyword: string]: unknown }
type Response = { description?: string; content?: Record<string, Media>; $ref?: string }
export type Parameter = { name: string; in: string; required?: boolean; schema: Schema; description?: string }
export type Operation = {
  operationId?: string
  summary?: string
  description?: string
  tags?: string[]
  security?: Record<string, string[]>[]
  parameters?: Parameter[]
  requestBody?: { content: Record<string, Media>; required?: boolean; description?: string }
  responses?: Record<string, Response>
}
/** Operations by path and method. */
export type Paths = Record<string, Record<string, Operation>>
type Document = { paths?: Paths; components?: Record<string, object>; [keyword: string]: unknown }

/**
 * Makes the document that the framework derives from the routes a whole one: every operation has an id, its security and its failures;
 * schemas are JSON Schema 2020-12, and those with a title stand once, under `components`.
 * @param more operations that the router never sees
 */
export function completeDocument(document: Document, more: Paths = {}): void {
  document.paths = { ...document.paths, ...more }
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) complete(method, path, operation)
  }
  const schemas: Record<string, Schema> = {}
  document.paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, operations]) => [path, shareSchemas(operations, schemas)]),
  )
  const failure = {
    description: 'Failure',
    content: { 'application/json': { schema: shareSchemas(failed(), schemas) } },
  }
  const sorted = Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1))
  document.components = { ...document.components, schemas: Object.fromEntries(sorted), responses: { Failure: failure } }
}

const failed = () => modern(structuredClone(Failure) as unknown as Schema)

function complete(method: string, path: string, operation: Operation): void {
  operation.operationId ??= operationIdOf(method, path)
  operation.description ??= `${operation.summary}.`
  operation.security ??= []
  operation.parameters &&= operation.parameters.map((one) => ({
    ...one,
    // What has a default need not be sent.
    required: one.in === 'path' || (one.required === true && one.schema['default'] === undefined),
    schema: modern(one.schema),
  }))
  for (const media of Object.values(operation.requestBody?.content ?? {})) {
    if (media.schema) media.schema = optionalWhereDefault(modern(media.schema))
  }
  operation.responses = responsesOf(operation.responses)
}

/** Every route may fail, and all fail alike: that is said once. */
function responsesOf(given: Operation['responses'] = {}): Record<string, Response> {
  const responses = Object.entries(given).filter(([status]) => !/^[45]XX$/.test(status))
  const failure = { $ref: '#/components/responses/Failure' }
  const mended = responses.map(([status, response]) => [status, mendedResponse(response)] as const)
  return { ...Object.fromEntries(mended), '4XX': failure, '5XX': failure }
}

function mendedResponse({ content = {}, description, ...response }: Response): Response {
  const kept = Object.entries(content).filter(([, { schema }]) => schema?.['type'] !== 'null')
  const media = kept.map(([type, { schema, ...one }]) => [type, { ...one, ...(schema && { schema: modern(schema) }) }])
  return {
    ...response,
    description: description === undefined || description === 'Default Response' ? 'Success' : description,
    ...(media.length > 0 && { content: Object.fromEntries(media) as Record<string, Media> }),
  }
}

/** A copy of a value in which every object has been changed, the innermost first. */
function mapped(value: unknown, change: (schema: Schema) => Schema): unknown {
  if (Array.isArray(value)) return value.map((one) => mapped(one, change))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, part]) => [key, isData(key) ? part : mapped(part, change)])
  return change(Object.fromEntries(entries) as Schema)
}

/** What stands under these is an example of what is described, not a description. */
function isData(key: string): boolean {
  return ['example', 'examples', 'default', 'const', 'enum'].includes(key)
}

/** JSON Schema of draft 7, which the validator reads, as that of 2020-12, which OpenAPI 3.1 takes. */
function modern(schema: Schema): Schema {
  return mapped(schema, (one) => {
    if (Array.isArray(one['items'])) {
      const { items, additionalItems, ...rest } = one
      return { ...rest, prefixItems: items, items: additionalItems ?? true, maxItems: (items as unknown[]).length }
    }
    // Only words are enumerated here, and generators want that said.
    if (Array.isArray(one['enum']) && one['type'] === undefined) return { type: 'string', ...one }
    if (one['patternProperties'] && typeof one['patternProperties'] === 'object') return recordOf(one)
    return one
  }) as Schema
}

/** Generators know records by `additionalProperties` alone. */
function recordOf({ patternProperties, ...schema }: Schema): Schema {
  const [value] = Object.values(patternProperties as Record<string, Schema>)
  return { ...schema, additionalProperties: value }
}

function optionalWhereDefault(schema: Schema): Schema {
  return mapped(schema, ({ required, ...one }) => {
    if (!Array.isArray(required)) return required === undefined ? one : { ...one, required }
    const properties = (one['properties'] ?? {}) as Record<string, Schema>
    const needed = required.filter((name: string) => properties[name]?.['default'] === undefined)
    return needed.length > 0 ? { ...one, required: needed } : one
  }) as Schema
}

/** Replaces what has a title with a reference to it, and puts it into `schemas`. */
function shareSchemas<T>(value: T, schemas: Record<string, Schema>): T {
  return mapped(value, ({ title, ...schema }) => {
    if (typeof title !== 'string') return title === undefined ? schema : { ...schema, title }
    const known = schemas[title]
    if (known && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`two schemas have the title ${title}, and are not the same`)
    schemas[title] = schema
    return { $ref: `#/components/schemas/${title}` }
  }) as T
}
