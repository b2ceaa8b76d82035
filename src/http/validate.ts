import { Ajv, type Options as AjvOptions, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'

/**
 * Values of a request for which every problem is looked for. In a larger one only the first is: each wrong value costs an
 * error object with every branch of every choice, and 1 MiB of JSON has room for half a million wrong values.
 */
const MAX_VALUES_FOR_ALL_PROBLEMS = 300

const OPTIONS: AjvOptions = { useDefaults: true, strict: false, verbose: true }

/** Bodies mean what they say (`"993"` is not a port). Fields that their schema does not name are removed. */
const BODY: AjvOptions = { ...OPTIONS, coerceTypes: false, removeAdditional: true }

/** Query strings, paths and headers are text, and are read as numbers where the schema says so. */
const TEXT: AjvOptions = { ...OPTIONS, coerceTypes: 'array' }

/** Compiles the schemas of routes into validators whose time and memory grow with the size of a request, and no faster. */
export function createValidatorCompiler(): FastifySchemaCompiler<unknown> {
  const [body, text] = [compilersOf(BODY), compilersOf(TEXT)]
  return ({ schema, httpPart }) => {
    if (httpPart === 'body') return boundedValidator(body, closed(schema as Schema))
    return boundedValidator(text, schema as Schema)
  }
}

/** One that stops at the first problem, and one that finds them all. */
type Compilers = { first: Ajv; all: Ajv }

function compilersOf(options: AjvOptions): Compilers {
  const compilers = { first: new Ajv(options), all: new Ajv({ ...options, allErrors: true }) }
  for (const ajv of Object.values(compilers)) addFormats.default(ajv)
  return compilers
}

type Validator = { (data: unknown): boolean; errors?: ValidateFunction['errors'] }

function boundedValidator(compilers: Compilers, schema: object): Validator {
  const first = compilers.first.compile(schema)
  let all: ValidateFunction | undefined
  const validate: Validator = (data) => {
    validate.errors = null
    if (first(data)) return true
    validate.errors = first.errors
    if (!hasMoreValuesThan(data, MAX_VALUES_FOR_ALL_PROBLEMS)) {
      // Most routes are never asked wrongly: the second validator is compiled when it is needed.
      all ??= compilers.all.compile(schema)
      if (!all(data)) validate.errors = all.errors
    }
    return false
  }
  return validate
}

/** Counts no further than the limit, and without recursion: a request chooses how deep it nests. */
function hasMoreValuesThan(data: unknown, limit: number): boolean {
  const waiting = [data]
  for (let count = 0; waiting.length > 0; count += 1) {
    if (count > limit) return true
    const value = waiting.pop()
    if (typeof value !== 'object' || value === null) continue
    for (const key in value) {
      if (waiting.length > limit) return true
      waiting.push((value as Record<string, unknown>)[key])
    }
  }
  return false
}

type Schema = { properties?: Record<string, Schema>; items?: Schema; additionalProperties?: unknown }

/**
 * Closes a body's schema: fields that it does not name are removed before a handler sees them, so that a row written from
 * what is left cannot be given another account's id. Not within a choice of schemas, where the first that does not fit would
 * take what the next one needs.
 */
function closed(schema: Schema): Schema {
  const { properties, items } = schema
  if (items) return { ...schema, items: closed(items) }
  if (!properties) return schema
  const named = Object.entries(properties).map(([name, one]) => [name, closed(one)] as const)
  return { additionalProperties: false, ...schema, properties: Object.fromEntries(named) }
}
