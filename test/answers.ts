// Checks every JSON response that a test gets from the service by `fetch` against openapi.json.
// Loaded once per worker.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js'

type Schema = Record<string, unknown>
type Response_ = { $ref?: string; content?: Record<string, { schema?: Schema }> }
type Operation = { responses: Record<string, Response_> }
type Document = {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; responses: Record<string, Response_> }
}

const send = globalThis.fetch
let checker: ReturnType<typeof createChecker> | undefined

globalThis.fetch = async (input, init) => {
  const response = await send(input, init)
  if (isOurs(response)) {
    checker ??= createChecker()
    const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toLowerCase()
    await (
      await checker
    )(method, response)
  }
  return response
}

/**
 * Whether the service’s router responded, in JSON: configured webhook responses have no request id.
 */
function isOurs({ headers }: Response): boolean {
  return (
    headers.has('x-request-id') &&
    (headers.get('content-type') ?? '').startsWith('application/json')
  )
}

/** Paths below which failures have the form of another product’s API. */
const OTHER_FORMS = /^\/(?:v1|api\/v2|taxii2)\//

/** @returns a check that throws when a response does not match openapi.json */
export async function createChecker() {
  const { Ajv2020: Validator } = await import('ajv/dist/2020.js')
  const { default: formats } = await import('ajv-formats')
  const document = JSON.parse(
    readFileSync(join(import.meta.dirname, '../openapi.json'), 'utf8'),
  ) as Document
  // With `inlineRefs`, a schema is compiled again for every answer that contains it.
  const options = { strict: false, allErrors: true, validateFormats: true, inlineRefs: false }
  const ajv = new Validator(options)
  formats.default(ajv)
  for (const [name, schema] of Object.entries(document.components.schemas))
    ajv.addSchema(local(strict(schema)) as Schema, idOf(name))
  const patterns = Object.keys(document.paths)
    // Literal paths take precedence over parameters, as in the router.
    .toSorted((a, b) => a.split('{').length - b.split('{').length)
    .map((path) => ({
      path,
      pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
    }))
  const patternsOf = (method: string) =>
    patterns.filter(({ path }) => document.paths[path]?.[method])
  const byMethod = new Map<string, typeof patterns>()
  const known = new Map<string, ValidateFunction | null>()

  return async (method: string, response: Response): Promise<void> => {
    const { pathname } = new URL(response.url)
    if (!byMethod.has(method)) byMethod.set(method, patternsOf(method))
    const path = byMethod.get(method)?.find(({ pattern }) => pattern.test(pathname))?.path
    if (path === undefined && OTHER_FORMS.test(pathname)) return
    const place = `${method.toUpperCase()} ${path ?? 'a path that is not described'} ${response.status}`
    if (!known.has(place))
      known.set(
        place,
        validatorOf(document, ajv, path && document.paths[path]?.[method], response.status),
      )
    const isValid = known.get(place)
    if (!isValid) throw new Error(`openapi.json does not describe this answer: ${place}`)
    const body: unknown = await response.clone().json()
    if (isValid(body)) return
    const errors = ajv.errorsText(isValid.errors, { dataVar: 'answer' })
    throw new Error(
      `This answer is not as openapi.json has it: ${place}: ${errors.slice(0, 2_000)}`,
    )
  }
}

/** Null where the response is not described; then the check can only fail. */
function validatorOf(
  document: Document,
  ajv: Ajv2020,
  operation: Operation | '' | undefined,
  status: number,
) {
  const { responses } = operation || {
    responses: { default: { $ref: '#/components/responses/Failure' } },
  }
  const found = responses[status] ?? (status < 400 ? undefined : responses['default'])
  const name = found?.$ref?.split('/').at(-1)
  const { content } = (name === undefined ? found : document.components.responses[name]) ?? {}
  const schema = content?.['application/json']?.schema
  if (!schema) return null
  // Most answers are failures, whose schema is the component itself.
  const component = /^#\/components\/schemas\/(\w+)$/.exec(String(schema['$ref']))?.[1]
  if (component !== undefined) return ajv.getSchema(idOf(component)) ?? null
  return ajv.compile(local(strict(schema)) as Schema)
}

/** The schema without additional properties, so that an undocumented field is found. */
function strict(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strict)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, part]) => [
    key,
    key === 'enum' || key === 'const' ? part : strict(part),
  ])
  const schema = Object.fromEntries(entries) as Schema
  const isClosed = isProperties(schema['properties']) && schema['type'] === 'object'
  return isClosed ? { additionalProperties: false, ...schema } : schema
}

function isProperties(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The schema with references to the schemas of `openapi.json` by their ids. */
function local(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value).replace(/"#\/components\/schemas\/(\w+)"/g, (_, name: string) =>
      JSON.stringify(idOf(name)),
    ),
  ) as unknown
}

const idOf = (name: string) => `https://openapi.test/${name}`
