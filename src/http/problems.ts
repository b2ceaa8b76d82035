import type { ErrorObject } from 'ajv'
import type { FaultDetail } from '../errors.ts'
import { MAX_PROBLEMS } from './limits.ts'

/** What of JSON Schema the search for problems knows by itself; all other keywords are left to the validator. */
export type Schema = {
  'x-sentence'?: string
  default?: unknown
  const?: string
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  additionalProperties?: unknown
}

/** The first thing that the validator finds wrong with a value, null when it finds nothing. */
export type FirstError = (schema: Schema, value: unknown) => Pick<ErrorObject, 'keyword' | 'params' | 'message'> | null

type Problem = {
  path: string[]
  keyword: string
  params: Record<string, unknown>
  message?: string | undefined
  schema: Schema
}

/** What the validator would say with a regular expression in it, or with a word of its own. */
const SENTENCES: Record<string, string> = {
  pattern: 'is not of the right form',
  anyOf: 'is not of the right form',
  propertyNames: 'has a name in it that is too long or not of the right form',
}

/**
 * Each field that is wrong, once, in words for people: the first ten. Where one of several schemas must fit, it is about the one that
 * was meant. An array or a text that is too long is not searched for more, so that the time is bounded by the schema, not by what was sent.
 * @param context the part of the request, which stands in for a field's name where there is none
 */
export function explain(schema: Schema, value: unknown, firstError: FirstError, context = 'request'): FaultDetail[] {
  const problems = problemsOf({ schema, value, path: [] }, firstError, MAX_PROBLEMS)
  return merged(problems.map((problem) => detailOf(problem, context))).slice(0, MAX_PROBLEMS)
}

type Place = { schema: Schema; value: unknown; path: string[] }

function problemsOf(place: Place, firstError: FirstError, limit: number): Problem[] {
  const { schema, value, path } = place
  const error = firstError(withoutParts(schema), value)
  if (error) return [{ path, ...error, params: error.params as Problem['params'], schema }]
  const problems = missingFields(place).slice(0, limit)
  for (const part of partsOf(place)) {
    if (problems.length >= limit) break
    problems.push(...problemsOf(part, firstError, limit - problems.length))
  }
  if (problems.length < limit) problems.push(...problemsOfChoice(place, firstError, limit - problems.length))
  return problems
}

const WITHOUT_PARTS = new WeakMap<Schema, Schema>()

/** What a schema says of a value itself; an object of its own for each schema, by which the validator is remembered. */
function withoutParts(schema: Schema): Schema {
  const known = WITHOUT_PARTS.get(schema)
  if (known) return known
  const { properties: _p, patternProperties: _pp, required: _r, items: _i, anyOf: _a, ...rest } = schema
  const { additionalProperties: _ap, ...bare } = rest
  WITHOUT_PARTS.set(schema, bare)
  return bare
}

function missingFields({ schema, value, path }: Place): Problem[] {
  if (!isObject(value)) return []
  const { required = [], properties = {} } = schema
  const missing = required.filter((name) => value[name] === undefined && properties[name]?.default === undefined)
  return missing.map((name) => ({
    path: [...path, name],
    keyword: 'required',
    params: { missingProperty: name },
    schema,
  }))
}

/** The values within a value for which its schema has a schema. */
function* partsOf({ schema, value, path }: Place): Generator<Place> {
  const { items, properties = {}, patternProperties } = schema
  if (items && Array.isArray(value)) {
    for (const [index, item] of value.entries()) yield { schema: items, value: item, path: [...path, String(index)] }
  }
  if (!isObject(value)) return
  for (const [name, one] of Object.entries(properties)) {
    if (value[name] !== undefined) yield { schema: one, value: value[name], path: [...path, name] }
  }
  if (!patternProperties) return
  const patterns = Object.entries(patternProperties).map(([pattern, one]) => [new RegExp(pattern, 'u'), one] as const)
  for (const [name, part] of Object.entries(value)) {
    for (const [pattern, one] of patterns) {
      if (pattern.test(name)) yield { schema: one, value: part, path: [...path, name] }
    }
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** In place of all that is wrong with each branch of a choice, what is wrong with the branch that was meant. */
function problemsOfChoice(place: Place, firstError: FirstError, limit: number): Problem[] {
  const { schema, path } = place
  if (!schema.anyOf) return []
  const branches = schema.anyOf.map((branch) => problemsOf({ ...place, schema: branch }, firstError, limit))
  if (branches.some((branch) => branch.length === 0)) return []
  const meant = branchesMeant(branches, path)
  return meant.length > 0 ? meant : [{ path, keyword: 'anyOf', params: {}, schema }]
}

/** Nobody means null who gave something, nor another kind than the one that is named. */
function branchesMeant(branches: Problem[][], path: string[]): Problem[] {
  const given = branches.filter((branch) => !branch.some((one) => isNull(one) && one.path.length === path.length))
  const ofTheKind = given.filter((branch) => !branch.some(({ keyword }) => keyword === 'const'))
  if (ofTheKind.length === 0) return given.flat().filter(({ keyword }) => keyword === 'const')
  const unnamed = ofTheKind.flat().filter((problem) => kindOf(problem) !== undefined)
  return unnamed.length > 0 ? unnamed : alternatives(ofTheKind)
}

/** The kind that a missing field would have to name; undefined where it is about something else. */
function kindOf({ keyword, schema, params }: Problem): string | undefined {
  return keyword === 'required' ? schema.properties?.[missingOf(params)]?.const : undefined
}

function missingOf(params: Problem['params']): string {
  return String(params['missingProperty'])
}

function isNull({ keyword, params }: Problem): boolean {
  return keyword === 'type' && params['type'] === 'null'
}

/** Of several that lack one field each, the first is named, with the others in its sentence. */
function alternatives(branches: Problem[][]): Problem[] {
  const lacking = branches.map((branch) =>
    branch.length === 1 && branch[0]?.keyword === 'required' ? branch[0] : null,
  )
  const [first, ...others] = lacking
  if (!first || others.length === 0 || others.includes(null)) return branches.flat()
  const names = others.map((other) => missingOf(other?.params ?? {}))
  return [{ ...first, message: `is required, or ${names.join(' or ')}`, keyword: 'alternatives' }]
}

function detailOf(problem: Problem, context: string): FaultDetail {
  return { path: problem.path.join('.') || context, message: sentenceOf(problem) }
}

function sentenceOf(problem: Problem): string {
  const { keyword, params, message, schema } = problem
  if (keyword === 'required') {
    const kind = kindOf(problem)
    return kind === undefined ? 'is required' : `must be ${kind}`
  }
  if (keyword === 'const') return `must be ${String(params['allowedValue'])}`
  if (keyword === 'enum') return `${message}: ${String(params['allowedValues'])}`
  const ours = keyword === 'type' ? undefined : (schema['x-sentence'] ?? SENTENCES[keyword])
  return ours ?? message ?? 'is not valid'
}

/** What is said of one field by several branches is one sentence. */
function merged(details: FaultDetail[]): FaultDetail[] {
  const sentences = new Map<string, Set<string>>()
  for (const { path, message } of details) sentences.set(path, (sentences.get(path) ?? new Set()).add(message))
  return Array.from(sentences, ([path, messages]) => ({ path, message: [...messages].join(' or ') }))
}
