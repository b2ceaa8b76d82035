import { Ajv, type Options as AjvOptions, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'

/**
 * Up to this many values in a request, every problem is reported; beyond, only the first. Each
 * invalid value costs an error object per branch of every choice, and 1 MiB of JSON has room for
 * half a million invalid values.
 */
const MAX_VALUES_FOR_ALL_PROBLEMS = 300

const OPTIONS: AjvOptions = { useDefaults: true, strict: false, verbose: true }

/**
 * Types in bodies are not converted (`"993"` is not a port). Fields that the schema does not name
 * are removed.
 */
const BODY: AjvOptions = { ...OPTIONS, coerceTypes: false, removeAdditional: true }

/** Query strings, paths and headers are text, and are converted to the types of the schema. */
const TEXT: AjvOptions = { ...OPTIONS, coerceTypes: 'array' }

/** One compiler stops at the first problem, the other reports all. */
type Compilers = { first: Ajv; all: Ajv }

/**
 * Compiles schemas of a kind of values, each once per process: routes share schemas, and a compiler
 * compiles the schema of schemas before its first one.
 */
type SchemaKind = {
  compilers: Compilers
  validators: WeakMap<object, Validator>
  prepare: (schema: Schema) => Schema
}

const KINDS: Record<'body' | 'text', SchemaKind> = {
  body: { compilers: compilersOf(BODY), validators: new WeakMap(), prepare: closed },
  text: { compilers: compilersOf(TEXT), validators: new WeakMap(), prepare: (schema) => schema },
}

/**
 * Compiles route schemas into validators whose time and memory grow linearly with the size of a
 * request.
 */
export function createValidatorCompiler(): FastifySchemaCompiler<unknown> {
  return ({ schema, httpPart }) => {
    const { compilers, validators, prepare } = KINDS[httpPart === 'body' ? 'body' : 'text']
    const known = validators.get(schema as Schema)
    if (known) return known
    const validator = boundedValidator(compilers, prepare(schema as Schema))
    validators.set(schema as Schema, validator)
    return validator
  }
}

function compilersOf(options: AjvOptions): Compilers {
  const compilers = { first: new Ajv(options), all: new Ajv({ ...options, allErrors: true }) }
  for (const ajv of Object.values(compilers)) addFormats.default(ajv)
  return compilers
}

type Validator = { (data: unknown): boolean; errors?: ValidateFunction['errors'] }

function boundedValidator(compilers: Compilers, schema: object): Validator {
  // Compiled on first use: all routes together take a second, and most get no invalid request.
  let first: ValidateFunction | undefined
  let all: ValidateFunction | undefined
  const validate: Validator = (data) => {
    validate.errors = null
    first ??= compilers.first.compile(schema)
    if (first(data)) return true
    validate.errors = first.errors
    if (!hasMoreValuesThan(data, MAX_VALUES_FOR_ALL_PROBLEMS)) {
      all ??= compilers.all.compile(schema)
      if (!all(data)) validate.errors = all.errors
    }
    return false
  }
  return validate
}

/** Counts up to the limit, without recursion, because a request controls its depth. */
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

type Schema = {
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: unknown
}

/**
 * Closes the schema of a body: unnamed fields are removed before the handler runs, so that a row
 * written from the body cannot carry another account's id. Schemas within a choice stay open,
 * because the first that does not match would remove fields that the next one needs.
 */
function closed(schema: Schema): Schema {
  const { properties, items } = schema
  if (items) return { ...schema, items: closed(items) }
  if (!properties) return schema
  const named = Object.entries(properties).map(([name, one]) => [name, closed(one)] as const)
  return { additionalProperties: false, ...schema, properties: Object.fromEntries(named) }
}
