import { isDeepStrictEqual } from 'node:util'
import { Failure } from '../http-schema.ts'
import { operationIdOf } from './operation-id.ts'

type Schema = Record<string, unknown>
type Media = { schema?: Schema; [keyword: string]: unknown }
type Response = {
  description?: string
  headers?: Record<string, object>
  content?: Record<string, Media>
  $ref?: string
}
type Parameter = {
  name: string
  in: string
  required?: boolean
  schema: Schema
  description?: string
}
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
 * Completes the document that the framework derives from the routes: every operation gets an id,
 * its security and its failures. Schemas become JSON Schema 2020-12, and those with a title are
 * shared under `components`.
 * @param more operations that are handled outside the router
 */
export function completeDocument(document: Document, more: Paths = {}): void {
  document.paths = JSON.parse(JSON.stringify({ ...document.paths, ...more })) as Paths
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) complete(method, path, operation)
  }
  const schemas: Record<string, Schema> = {}
  document.paths = Object.fromEntries(
    sortByKey(document.paths).map(([path, operations]) => [
      path,
      shareSchemas(operations, schemas),
    ]),
  )
  const failure = (description: string, headers: object): Response => ({
    description,
    headers: { ...REQUEST_ID, ...headers },
    content: { 'application/json': { schema: shareSchemas(failureSchema(), schemas) } },
  })
  document.components = {
    ...document.components,
    schemas: Object.fromEntries(sortByKey(schemas)),
    responses: {
      Failure: failure('Failure', {}),
      TemporaryFailure: failure('Failure that a retry may overcome', RETRY_AFTER),
    },
  }
}

const REQUEST_ID = {
  'X-Request-Id': {
    description: 'The ID of the request, which the log has too.',
    schema: { type: 'string' },
  },
}
const RETRY_AFTER = {
  'Retry-After': {
    description: 'Seconds to wait before the same request.',
    schema: { type: 'integer' },
  },
}

/** The document does not depend on the order in which routes are registered. */
const sortByKey = <T>(object: Record<string, T>): [string, T][] =>
  Object.entries(object).toSorted(([a], [b]) => (a < b ? -1 : 1))

const failureSchema = () => toDraft2020(JSON.parse(JSON.stringify(Failure)) as Schema)

function complete(method: string, path: string, operation: Operation): void {
  operation.operationId ??= operationIdOf(method, path)
  operation.description ??= `${operation.summary}.`
  operation.security ??= []
  operation.parameters &&= operation.parameters.map((one) => ({
    ...one,
    // A parameter with a default is optional.
    required: one.in === 'path' || (one.required === true && one.schema['default'] === undefined),
    schema: toDraft2020(one.schema),
  }))
  for (const media of Object.values(operation.requestBody?.content ?? {})) {
    if (media.schema) media.schema = optionalWhereDefault(toDraft2020(media.schema))
  }
  operation.responses = responsesOf(operation.responses, failuresOf(method, path, operation))
}

const FAILURE = { $ref: '#/components/responses/Failure' }
const TEMPORARY_FAILURE = { $ref: '#/components/responses/TemporaryFailure' }

/**
 * The failures that follow from what an operation needs, and any other. Not as ranges such as
 * `4XX`, for which some client generators write code that does not compile.
 */
function failuresOf(
  method: string,
  path: string,
  { parameters = [], requestBody, security = [] }: Operation,
): Record<string, Response> {
  return {
    ...((parameters.length > 0 || requestBody) && { 400: FAILURE }),
    ...(security.length > 0 && { 401: FAILURE, 403: FAILURE }),
    ...(path.includes('{') && { 404: FAILURE }),
    ...(method !== 'get' && { 409: FAILURE }),
    429: TEMPORARY_FAILURE,
    503: TEMPORARY_FAILURE,
    default: FAILURE,
  }
}

/** Adds the shared failure responses to an operation, or its own for a range such as `4XX`. */
function responsesOf(
  given: Operation['responses'] = {},
  failures: Record<string, Response>,
): Record<string, Response> {
  const responses = Object.entries(given).filter(
    ([, { description }]) => description !== (Failure as { description?: string }).description,
  )
  const normalized = responses.map(
    ([status, response]) => [status, normalizedResponse(response)] as const,
  )
  const { '4XX': client, '5XX': server, ...own } = Object.fromEntries(normalized)
  const replaced = Object.entries(failures).map(([status, failure]) => {
    const ofRange = status.startsWith('5') ? server : client
    return [status, ofRange ? asFailure(ofRange) : failure] as const
  })
  return { ...Object.fromEntries(replaced), ...own }
}

const asFailure = ({ description, ...response }: Response): Response => ({
  description: description === 'Success' ? 'Failure' : (description ?? 'Failure'),
  ...response,
})

function normalizedResponse({ content = {}, description, ...response }: Response): Response {
  const kept = Object.entries(content).filter(([, { schema }]) => schema?.['type'] !== 'null')
  const media = kept.map(([type, { schema, ...one }]) => [
    type,
    { ...one, ...(schema && { schema: toDraft2020(schema) }) },
  ])
  return {
    ...response,
    description:
      description === undefined || description === 'Default Response' ? 'Success' : description,
    ...(media.length > 0 && { content: Object.fromEntries(media) as Record<string, Media> }),
  }
}

/** Copies a value and applies a change to every object in it, the innermost first. */
function mapSchemas(value: unknown, change: (schema: Schema) => Schema): unknown {
  if (Array.isArray(value)) return value.map((one) => mapSchemas(one, change))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, part]) => [
    key,
    isData(key, part) ? part : mapSchemas(part, change),
  ])
  return change(Object.fromEntries(entries) as Schema)
}

/** Whether a keyword holds data, not schemas. The response `default` has a description. */
function isData(key: string, part: unknown): boolean {
  if (key === 'default' && part instanceof Object && 'description' in part) return false
  return ['example', 'examples', 'default', 'const', 'enum'].includes(key)
}

/**
 * Converts JSON Schema draft 7, which the validator uses, to 2020-12, which OpenAPI 3.1 requires.
 */
function toDraft2020(schema: Schema): Schema {
  return mapSchemas(schema, (one) => {
    if (Array.isArray(one['items'])) {
      const { items, additionalItems, ...rest } = one
      const isEnded = additionalItems === false
      return {
        ...rest,
        prefixItems: items,
        items: {},
        ...(isEnded && { maxItems: (items as unknown[]).length }),
      }
    }
    // The framework writes some constants as enums, for older versions of OpenAPI.
    if (Array.isArray(one['enum']) && one['enum'].length === 1 && one['type'] !== undefined) {
      const { enum: words, ...rest } = one
      return { ...rest, const: (words as unknown[])[0] }
    }
    // All enums here are strings, and generators need the type.
    if (Array.isArray(one['enum']) && one['type'] === undefined)
      return { type: typeof one['enum'][0] === 'number' ? 'integer' : 'string', ...one }
    if (typeof one['pattern'] === 'string') return { ...one, pattern: plainPattern(one['pattern']) }
    if (one['type'] === 'object' && Array.isArray(one['anyOf'])) return alternativesOf(one)
    if (typeof one['type'] === 'string' && Array.isArray(one['anyOf'])) return typedBranches(one)
    if (one['patternProperties'] && typeof one['patternProperties'] === 'object')
      return recordOf(one)
    return one
  }) as Schema
}

/** Some generators read no type beside alternatives, so that each needs its own. */
function typedBranches({ anyOf, type, ...schema }: Schema): Schema {
  return { ...schema, anyOf: (anyOf as Schema[]).map((branch) => ({ type, ...branch })) }
}

/** Fields of which one must be there: generators know that as alternatives that are whole. */
function alternativesOf({ anyOf, ...schema }: Schema): Schema {
  const branches = anyOf as { required?: string[] }[]
  if (branches.some((branch) => Object.keys(branch).join() !== 'required'))
    return { ...schema, anyOf }
  const { properties, required = [], type, additionalProperties, ...said } = schema
  const object = {
    type,
    properties,
    ...(additionalProperties !== undefined && { additionalProperties }),
  }
  const whole = branches.map((branch) => ({
    ...object,
    required: [...(required as string[]), ...(branch.required ?? [])],
  }))
  return { ...said, anyOf: whole }
}

/** The class Cf of the basic plane: patterns without the flag `u` cannot name others. */
const INVISIBLE =
  '\\u00ad\\u0600-\\u0605\\u061c\\u06dd\\u070f\\u0890\\u0891\\u08e2\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2064\\u2066-\\u206f\\ufeff\\ufff9-\\ufffb'

/**
 * Replaces Unicode classes, which few tools support. Lone surrogates cannot occur in JSON encoded
 * as UTF-8.
 */
function plainPattern(pattern: string): string {
  return pattern
    .replaceAll('\\p{Cc}', '\\u0000-\\u001f\\u007f-\\u009f')
    .replaceAll('\\p{Cf}', INVISIBLE)
    .replaceAll('\\p{Zl}\\p{Zp}', '\\u2028\\u2029')
    .replaceAll('\\p{Cs}', '')
}

/** Generators recognize records by `additionalProperties` only. */
function recordOf({ patternProperties, ...schema }: Schema): Schema {
  const [value] = Object.values(patternProperties as Record<string, Schema>)
  return { ...schema, additionalProperties: value }
}

/**
 * Makes fields with a default optional. The default moves to the description, because client
 * generators require fields that have one.
 */
function optionalWhereDefault(schema: Schema): Schema {
  return mapSchemas(schema, ({ required, ...one }) => {
    const properties = (one['properties'] ?? {}) as Record<string, Schema>
    const isNeeded = (name: string) => properties[name]?.['default'] === undefined
    const needed = Array.isArray(required) ? required.filter(isNeeded) : []
    const described = Object.entries(properties).map(([name, property]) => [
      name,
      withDefaultDescribed(property),
    ])
    return {
      ...one,
      ...(one['properties'] !== undefined && { properties: Object.fromEntries(described) }),
      ...(needed.length > 0 && { required: needed }),
    }
  }) as Schema
}

function withDefaultDescribed({ default: value, ...property }: Schema): Schema {
  if (value === undefined) return property
  const sentence = `Default: \`${JSON.stringify(value)}\`.`
  const { description } = property
  return {
    ...property,
    description: typeof description === 'string' ? `${description} ${sentence}` : sentence,
  }
}

/** Replaces each schema with a title by a reference, and adds it to `schemas`. */
function shareSchemas<T>(value: T, schemas: Record<string, Schema>): T {
  return mapSchemas(value, ({ title, ...schema }) => {
    if (typeof title !== 'string') return title === undefined ? schema : { ...schema, title }
    const known = schemas[title]
    if (known && !isDeepStrictEqual(withoutExamples(known), withoutExamples(schema)))
      throw new Error(`two schemas have the title ${title}, and are not the same`)
    schemas[title] = { ...known, ...schema }
    return { $ref: `#/components/schemas/${title}` }
  }) as T
}

/** Removes examples, which do not count when schemas are compared. */
function withoutExamples({ example: _example, examples: _examples, ...schema }: Schema): Schema {
  return schema
}
