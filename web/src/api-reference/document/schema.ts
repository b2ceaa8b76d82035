import type { Schema } from './openapi.ts'

export type Schemas = Record<string, Schema>

/** A property, or one of several alternatives, of a schema. */
export type Field = {
  name: string
  /** Whether it is an alternative (`anyOf`) rather than a property. */
  isOption: boolean
  isRequired: boolean
  /** Fields of which one can stand in for this one, where it is required otherwise. */
  unless?: string[]
  schema: Schema
}

const PREFIX = '#/components/schemas/'

/** Follows references; an unknown one is a schema without rules. */
export function resolve(schema: Schema, schemas: Schemas): Schema {
  let current = schema
  // Bounded, so that a circle of references ends.
  for (let hops = 0; current.$ref !== undefined && hops < 20; hops++) {
    const { $ref, ...beside } = current
    current = { ...schemas[$ref.slice(PREFIX.length)], ...beside }
  }
  return current
}

/** `string`, `integer or null`, `object[]`, `"webhook"`: a type as a programmer reads it. */
export function typeText(schema: Schema, schemas: Schemas): string {
  return [...new Set(typesOf(schema, schemas))].join(' or ') || 'any'
}

function typesOf(schema: Schema, schemas: Schemas): string[] {
  const resolved = resolve(schema, schemas)
  if (resolved.const !== undefined) return [JSON.stringify(resolved.const)]
  const options = optionsOf(resolved)
  if (options.length > 0) {
    const types = options.flatMap((option) => typesOf(option, schemas))
    // Alternatives of constants are listed with the allowed values.
    return types.map((type) => (type.startsWith('"') ? 'string' : type))
  }
  const types = [resolved.type ?? []].flat()
  if (resolved.type === 'array') return arrayTypes(resolved, schemas)
  if (types.length > 0) return types
  return resolved.enum ? ['string'] : []
}

function arrayTypes({ items }: Schema, schemas: Schemas): string[] {
  const inner = items ? typeText(items, schemas) : 'any'
  return [inner.includes(' ') ? `(${inner})[]` : `${inner}[]`]
}

const optionsOf = ({ anyOf, oneOf }: Schema) => anyOf ?? oneOf ?? []

const isNull = (schema: Schema) => schema.type === 'null' || schema.const === null

/** Values that are allowed, of an `enum` or of alternatives that are constants. */
export function allowedValues(schema: Schema, schemas: Schemas): unknown[] {
  const resolved = innermost(schema, schemas)
  if (resolved.enum) return resolved.enum
  const options = optionsOf(resolved).map((option) => resolve(option, schemas))
  const values = options.filter(({ const: value }) => value !== undefined && value !== null)
  return values.length > 1 ? values.map(({ const: value }) => value) : []
}

/** The schema of one item of an array, or the only alternative beside null, at any depth. */
function innermost(schema: Schema, schemas: Schemas): Schema {
  let current = resolve(schema, schemas)
  for (let depth = 0; depth < 20; depth++) {
    const options = optionsOf(current).filter((option) => !isNull(resolve(option, schemas)))
    if (options.length === 1 && options[0]) current = resolve(options[0], schemas)
    else if (current.type === 'array' && current.items) current = resolve(current.items, schemas)
    else break
  }
  return current
}

/** Properties or alternatives below a schema; those of an array are the ones of its items. */
export function fieldsOf(schema: Schema, schemas: Schemas): Field[] {
  const inner = innermost(schema, schemas)
  const options = optionsOf(inner)
    .map((option) => resolve(option, schemas))
    .filter((option) => !isNull(option))
  const [first, ...others] = options
  if (first?.properties && others.length > 0 && haveSameProperties(options))
    return mergedFields(options)
  if (options.some((option) => hasFields(option, schemas))) {
    return options.map((option, index) => ({
      name: optionName(option, schemas) ?? `option ${index + 1}`,
      isOption: true,
      isRequired: false,
      schema: option,
    }))
  }
  const required = new Set(inner.required)
  const fields = Object.entries(inner.properties ?? {}).map(([name, property]) => ({
    name,
    isOption: false,
    isRequired: required.has(name),
    schema: property,
  }))
  const { additionalProperties: more } = inner
  if (typeof more !== 'object') return fields
  return [...fields, { name: '*', isOption: false, isRequired: false, schema: more }]
}

const haveSameProperties = ([first, ...others]: Schema[]) =>
  others.every(({ properties }) => JSON.stringify(properties) === JSON.stringify(first?.properties))

/** Fields of alternatives that differ only in which fields they require. */
function mergedFields(options: Schema[]): Field[] {
  const required = options.map((option) => option.required ?? [])
  return Object.entries(options[0]?.properties ?? {}).map(([name, property]) => {
    const without = required.filter((names) => !names.includes(name))
    const always = (other: string) => required.every((names) => names.includes(other))
    const unless = [...new Set(without.flat())].filter((other) => !always(other))
    const isRequired = without.length < required.length
    const isSubstituted = isRequired && unless.length > 0
    return {
      name,
      isOption: false,
      isRequired,
      ...(isSubstituted ? { unless } : {}),
      schema: property,
    }
  })
}

function hasFields(schema: Schema, schemas: Schemas): boolean {
  return fieldsOf(schema, schemas).length > 0
}

/** `type: "webhook"`, by which alternatives are told apart. */
function optionName(option: Schema, schemas: Schemas): string | undefined {
  for (const [name, property] of Object.entries(option.properties ?? {})) {
    const { const: value } = resolve(property, schemas)
    if (typeof value === 'string') return `${name}: ${JSON.stringify(value)}`
  }
  return undefined
}

/** `1 to 100`, `up to 60 characters`, `format: uuid`: what a value must fulfil. */
export function constraintsOf(schema: Schema, schemas: Schemas): Constraint[] {
  const inner = innermost(schema, schemas)
  const { items } = resolve(schema, schemas)
  const own = items ? resolve(schema, schemas) : inner
  return [
    range('value', inner.minimum, inner.maximum),
    range('length', inner.minLength, inner.maxLength),
    range('items', own.minItems, own.maxItems),
    inner.format === undefined ? null : { kind: 'format', text: inner.format },
    inner.pattern === undefined ? null : { kind: 'pattern', text: inner.pattern },
  ].filter((constraint): constraint is Constraint => constraint !== null)
}

export type Constraint =
  | { kind: 'value' | 'length' | 'items'; least?: number | undefined; most?: number | undefined }
  | { kind: 'format' | 'pattern'; text: string }

function range(
  kind: 'value' | 'length' | 'items',
  least?: number,
  most?: number,
): Constraint | null {
  return least === undefined && most === undefined ? null : { kind, least, most }
}
