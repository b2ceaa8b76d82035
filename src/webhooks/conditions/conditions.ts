import ipaddr from 'ipaddr.js'
import type { FaultDetail } from '../../errors.ts'
import { cidr, type Cidr } from '../../setting-values.ts'
import {
  MAX_CONDITION_DEPTH,
  MAX_CONDITIONS,
  MAX_LISTED_VALUES,
  MAX_VALUE_CHARS,
} from '../limits.ts'
import { parseField, type Field, type RequestValues } from './request-values.ts'

/** Decides whether a request fulfils conditions. Takes time in proportion to them and the body. */
export type Matcher = (values: RequestValues) => boolean

/** Conditions as users write them: fields with a value or operators, and `$and`, `$or`, `$not`. */
export type Conditions = Record<string, unknown>

/** A value as users compare with it. */
type Scalar = string | number | boolean | null

type Compare = (values: RequestValues, field: Field) => boolean

/** What is wrong with conditions. */
class Problem extends Error {
  readonly path: string
  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}

/**
 * Compiles conditions.
 * @param path of the conditions in the request, for details
 * @returns the matcher, or what is wrong with them
 */
export function parseConditions(
  conditions: Conditions,
  path = 'when',
): { matches: Matcher } | { wrong: FaultDetail } {
  try {
    return { matches: compileAll(conditions, path, { count: 0 }, 1) }
  } catch (error) {
    if (error instanceof Problem) return { wrong: { path: error.path, message: error.message } }
    throw error
  }
}

/** The fields that conditions read. */
export function readsVerified(conditions: Conditions): boolean {
  return Object.entries(conditions).some(
    ([name, value]) =>
      name === 'verified' ||
      (name.startsWith('$') &&
        [value].flat().some((inner) => isObject(inner) && readsVerified(inner as Conditions))),
  )
}

type Counted = { count: number }

function compileAll(conditions: unknown, path: string, counted: Counted, depth: number): Matcher {
  if (!isObject(conditions)) throw new Problem(path, 'must be an object of conditions')
  if (depth > MAX_CONDITION_DEPTH)
    throw new Problem(path, `must be nested up to ${MAX_CONDITION_DEPTH} levels`)
  const all = Object.entries(conditions as Conditions).map(([name, value]) =>
    compileOne(name, value, `${path}.${name}`, counted, depth),
  )
  return (values) => all.every((matches) => matches(values))
}

function compileOne(
  name: string,
  value: unknown,
  path: string,
  counted: Counted,
  depth: number,
): Matcher {
  if (++counted.count > MAX_CONDITIONS)
    throw new Problem(path, `must have up to ${MAX_CONDITIONS} conditions`)
  if (name === '$not') {
    const inner = compileAll(value, path, counted, depth + 1)
    return (values) => !inner(values)
  }
  if (name === '$and' || name === '$or') {
    if (!Array.isArray(value) || value.length === 0)
      throw new Problem(path, 'must be a list of conditions')
    const inner = value.map((one, index) => compileAll(one, `${path}.${index}`, counted, depth + 1))
    return name === '$and'
      ? (values) => inner.every((matches) => matches(values))
      : (values) => inner.some((matches) => matches(values))
  }
  const field = parseField(name)
  if (field === null)
    throw new Problem(
      path,
      'must be method, path, ip, verified, query.NAME, headers.NAME, body, body/POINTER, $and, $or or $not',
    )
  const compares = operatorsOf(value, path).map(([operator, operand]) =>
    compileOperator(field, operator, operand, `${path}.${operator}`),
  )
  counted.count += compares.length - 1
  return (values) => compares.every((compare) => compare(values, field))
}

/** A plain value stands for `$eq`. */
function operatorsOf(value: unknown, path: string): [string, unknown][] {
  if (!isObject(value)) return [['$eq', value]]
  const operators = Object.entries(value as object)
  if (operators.length === 0) throw new Problem(path, 'must have an operator')
  return operators
}

function compileOperator(field: Field, operator: string, operand: unknown, path: string): Compare {
  if (operator === '$exists') {
    if (typeof operand !== 'boolean') throw new Problem(path, 'must be true or false')
    return (values) => (values.valueOf(field) !== undefined) === operand
  }
  if (operator === '$in' || operator === '$nin') {
    if (!Array.isArray(operand) || operand.length === 0 || operand.length > MAX_LISTED_VALUES)
      throw new Problem(path, `must be a list of 1 to ${MAX_LISTED_VALUES} values`)
    const equals = operand.map((one, index) => compileEqual(field, one, `${path}.${index}`))
    const isListed: Compare = (values) => equals.some((equal) => equal(values, field))
    return operator === '$in' ? isListed : (values) => !isListed(values, field)
  }
  if (operator === '$eq') return compileEqual(field, operand, path)
  if (operator === '$ne') {
    const equal = compileEqual(field, operand, path)
    return (values) => !equal(values, field)
  }
  return compileOrdered(operator, operand, path) ?? compileText(operator, operand, path)
}

function compileEqual(field: Field, operand: unknown, path: string): Compare {
  const wanted = scalarOf(operand, path)
  if (field.kind === 'ip') {
    const network = networkOf(wanted, path)
    return (values) => isWithin(String(values.valueOf(field)), network)
  }
  if (field.kind === 'method' && typeof wanted === 'string') {
    const method = wanted.toUpperCase()
    return (values) => values.valueOf(field) === method
  }
  return (values) => {
    const value = values.valueOf(field)
    if (value === wanted) return true
    // A text for a number compares digits, so that ids beyond 2^53 are told apart.
    if (typeof wanted === 'string' && typeof value === 'number')
      return values.textOf(field) === wanted
    return typeof wanted === 'number' && numberOf(value) === wanted
  }
}

const ORDERS: Record<string, (order: number) => boolean> = {
  $gt: (order) => order > 0,
  $gte: (order) => order >= 0,
  $lt: (order) => order < 0,
  $lte: (order) => order <= 0,
}

/** Numbers are compared as numbers, texts such as times in ISO 8601 by their characters. */
function compileOrdered(operator: string, operand: unknown, path: string): Compare | null {
  if (!Object.hasOwn(ORDERS, operator)) return null
  const fits = ORDERS[operator] as (order: number) => boolean
  if (typeof operand === 'number')
    return (values, field) => {
      const value = numberOf(values.valueOf(field))
      return value !== null && fits(value - operand)
    }
  const wanted = scalarOf(operand, path)
  if (typeof wanted !== 'string') throw new Problem(path, 'must be a number or a text')
  return (values, field) => {
    const value = values.valueOf(field)
    return typeof value === 'string' && fits(value < wanted ? -1 : value > wanted ? 1 : 0)
  }
}

function compileText(operator: string, operand: unknown, path: string): Compare {
  const wanted = scalarOf(operand, path)
  if (operator === '$contains')
    return (values, field) => {
      const value = values.valueOf(field)
      if (Array.isArray(value)) return value.includes(wanted)
      return typeof value === 'string' && typeof wanted === 'string' && value.includes(wanted)
    }
  if (operator !== '$startsWith' && operator !== '$endsWith')
    throw new Problem(
      path,
      'must be $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $startsWith, $endsWith, $contains or $exists',
    )
  if (typeof wanted !== 'string') throw new Problem(path, 'must be a text')
  return (values, field) => {
    const value = values.valueOf(field)
    if (typeof value !== 'string') return false
    return operator === '$startsWith' ? value.startsWith(wanted) : value.endsWith(wanted)
  }
}

function scalarOf(operand: unknown, path: string): Scalar {
  if (operand === null || typeof operand === 'boolean') return operand
  if (typeof operand === 'number' && Number.isFinite(operand)) return operand
  if (typeof operand !== 'string')
    throw new Problem(path, 'must be a text, a number, true, false or null')
  if (operand.length > MAX_VALUE_CHARS)
    throw new Problem(path, `must have up to ${MAX_VALUE_CHARS} characters`)
  if (operand.includes('\u0000')) throw new Problem(path, 'must not have NUL characters')
  return operand
}

/** A number, or a text that is one, as query strings and headers have it. */
function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || !/^-?\d{1,30}(?:\.\d{1,30})?$/.test(value)) return null
  return Number(value)
}

function networkOf(wanted: Scalar, path: string): Cidr {
  try {
    return cidr(String(wanted))
  } catch {
    throw new Problem(path, 'must be an address or a network such as 192.0.2.0/24')
  }
}

function isWithin(ip: string, network: Cidr): boolean {
  if (!ipaddr.isValid(ip)) return false
  const address = ipaddr.process(ip)
  return address.kind() === network[0].kind() && address.match(network)
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
