import { Ajv, type Options as AjvOptions, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import type { FastifyInstance } from 'fastify'
import { Fault } from '../errors.ts'
import { explain, type FirstError, type Schema } from './problems.ts'

/**
 * Bodies mean what they say (`"993"` is not a port); query strings are text and must be read as numbers. The validator stops at the
 * first problem: collecting all of them took a minute for a body of 1 MB. The others are searched for afterwards, up to ten.
 */
export function validateStrictly(app: FastifyInstance): void {
  const common: AjvOptions = { allErrors: false, useDefaults: true, strict: false }
  const exact = new Ajv({ ...common, coerceTypes: false, removeAdditional: true })
  const coercing = new Ajv({ ...common, coerceTypes: 'array' })
  for (const ajv of [exact, coercing]) addFormats.default(ajv)
  app.setValidatorCompiler(({ schema, httpPart = 'request' }) => {
    const ajv = httpPart === 'body' ? exact : coercing
    const shape = httpPart === 'body' ? closed(schema as Schema) : (schema as Schema)
    const isValid = ajv.compile(shape)
    const firstError = firstErrorBy(ajv)
    return (value: unknown) => {
      if (isValid(value)) return true
      // Nothing has such an id or such a name.
      if (httpPart === 'params') return { error: new Fault('not_found', 'There is nothing with such an id.') }
      const found = explain(shape, value, firstError, httpPart)
      return { error: invalid(found.length > 0 ? found : [problemOf(isValid, httpPart)]) }
    }
  })
}

/** Validators of parts of schemas, made when somebody first sends something wrong. */
function firstErrorBy(ajv: Ajv): FirstError {
  const known = new WeakMap<Schema, ValidateFunction>()
  return (schema, value) => {
    const isValid = known.get(schema) ?? ajv.compile(schema)
    known.set(schema, isValid)
    if (isValid(value)) return null
    const errors = isValid.errors ?? []
    return errors.find(({ keyword }) => keyword === 'propertyNames') ?? errors[0] ?? { keyword: '', params: {} }
  }
}

/** What the validator itself said, of a keyword that the search for problems does not know. */
function problemOf({ errors }: ValidateFunction, context: string) {
  const { instancePath = '', message = 'is not valid' } = errors?.[0] ?? {}
  return { path: instancePath.slice(1).replaceAll('/', '.') || context, message }
}

function invalid(details: { path: string; message: string }[]): Fault {
  const sentence = details.map(({ path, message }) => `${path} ${message}`).join('; ')
  return new Fault('invalid_request', `The request is not valid: ${sentence}.`, { details })
}

/**
 * Fields that a body's schema does not name are taken out before anybody sees them: a row written from what is left cannot be
 * given another's id. Not within a choice of schemas, where the first that does not fit would take what the next one needs.
 */
function closed(schema: Schema): Schema {
  const { properties, items } = schema
  if (items) return { ...schema, items: closed(items) }
  if (!properties) return schema
  const named = Object.entries(properties).map(([name, one]) => [name, closed(one)] as const)
  return { additionalProperties: false, ...schema, properties: Object.fromEntries(named) }
}
