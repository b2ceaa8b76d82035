import { MAX_PATCHED_BYTES } from '../limits.ts'

/** An operation of JSON Patch (RFC 6902). */
export type PatchOperation = {
  op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test'
  path: string
  from?: string | undefined
  value?: unknown
}

/** Why a patch does not fit a document: a sentence for the owner of the destination. */
export class PatchError extends Error {}

type Container = Record<string, unknown> | unknown[]
/** The document is a member of this, so that it can be replaced as a whole. */
type Root = { document: unknown }

/**
 * Applies operations to a JSON document. Numbers stay as they are written, also long ones. Nothing is
 * returned of a document that not all operations fit.
 *
 * A library would need the same bounds around each operation, because `copy` doubles what it copies,
 * and none keeps numbers as they are written.
 * @param body UTF-8
 * @throws PatchError
 */
export function patchJson(body: Buffer, operations: readonly PatchOperation[]): Buffer {
  const root: Root = { document: parse(body) }
  let bytes = body.length
  for (const [index, operation] of operations.entries()) {
    const place = `Operation ${index + 1} (${operation.op} ${operation.path})`
    bytes += apply(root, operation, place)
    if (bytes > MAX_PATCHED_BYTES)
      throw new PatchError(`${place} makes the body larger than ${MAX_PATCHED_BYTES} bytes.`)
  }
  return Buffer.from(JSON.stringify(root.document))
}

/** The steps of a JSON Pointer (RFC 6901); null for a text that is none. */
export function pointerOf(text: string): string[] | null {
  if (text === '') return []
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return null
  const steps = text.slice(1).split('/')
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function parse(body: Buffer): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body)
    return JSON.parse(text, (_key, value: unknown, { source }) =>
      typeof value === 'number' && source !== undefined ? JSON.rawJSON(source) : value,
    )
  } catch {
    throw new PatchError('The body is not JSON, so that it cannot be changed.')
  }
}

/** @returns bytes by which the document has grown at most */
function apply(root: Root, { op, path, from, value }: PatchOperation, place: string): number {
  switch (op) {
    case 'add':
      add(root, path, cloneJson(value), place)
      return sizeOf(value)
    case 'remove':
      remove(root, path, place)
      return 0
    case 'replace':
      get(root, path, place)
      if (path !== '') remove(root, path, place)
      add(root, path, cloneJson(value), place)
      return sizeOf(value)
    case 'move': {
      if (path.startsWith(`${from}/`)) throw new PatchError(`${place} moves a value into itself.`)
      const moved = get(root, from ?? '', place)
      remove(root, from ?? '', place)
      add(root, path, moved, place)
      return path.length
    }
    case 'copy': {
      const copied = get(root, from ?? '', place)
      const bytes = sizeOf(copied)
      if (bytes > MAX_PATCHED_BYTES) throw new PatchError(`${place} copies too much.`)
      add(root, path, cloneJson(copied), place)
      return bytes + path.length
    }
    default:
      if (!isEqual(get(root, path, place), value)) throw new PatchError(`${place} does not hold.`)
      return 0
  }
}

const sizeOf = (value: unknown) => JSON.stringify(value).length

/** Values are not shared: a later operation may change one of them. */
function cloneJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(cloneJson)
  if (typeof value !== 'object' || value === null || JSON.isRawJSON(value)) return value
  const copy = {}
  for (const [key, inner] of Object.entries(value)) define(copy, key, cloneJson(inner))
  return copy
}

/** `__proto__` is a key like any other, and must not change the prototype. */
function define(container: object, key: string, value: unknown): void {
  Object.defineProperty(container, key, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null && !JSON.isRawJSON(value)
}

/** The container of the last step, and that step. */
function parentOf(root: Root, path: string, place: string): [Container, string] {
  const steps = ['document', ...(pointerOf(path) ?? [])]
  let found: unknown = root
  for (const step of steps.slice(0, -1)) found = member(found, step, place)
  if (!isContainer(found)) throw missing(place)
  return [found, steps.at(-1) as string]
}

function member(container: unknown, step: string, place: string): unknown {
  if (!isContainer(container) || !Object.hasOwn(container, step)) throw missing(place)
  if (Array.isArray(container)) return container[indexOf(container, step, place)]
  return container[step]
}

const missing = (place: string) => new PatchError(`${place} names a value that is missing.`)

function indexOf(list: unknown[], step: string, place: string, most = list.length - 1): number {
  const index = /^(?:0|[1-9]\d{0,8})$/.test(step) ? Number(step) : NaN
  if (!(index <= most)) throw missing(place)
  return index
}

function get(root: Root, path: string, place: string): unknown {
  const [container, step] = parentOf(root, path, place)
  return member(container, step, place)
}

function add(root: Root, path: string, value: unknown, place: string): void {
  const [container, step] = parentOf(root, path, place)
  if (!Array.isArray(container)) return define(container, step, value)
  const index = step === '-' ? container.length : indexOf(container, step, place, container.length)
  container.splice(index, 0, value)
}

function remove(root: Root, path: string, place: string): void {
  const [container, step] = parentOf(root, path, place)
  member(container, step, place)
  if (Array.isArray(container)) container.splice(Number(step), 1)
  else delete container[step]
}

/** RFC 6902, 4.6: numbers are equal by their value, objects whatever the order of their members. */
function isEqual(a: unknown, b: unknown): boolean {
  if (!isContainer(a) || !isContainer(b)) return plain(a) === plain(b)
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every(
    (key) =>
      Object.hasOwn(b, key) &&
      isEqual((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  )
}

/** Numbers as exact decimals: as floating-point numbers, two long ids would be equal. */
function plain(value: unknown): unknown {
  if (typeof value === 'number') return decimalOf(String(value))
  if (JSON.isRawJSON(value)) return decimalOf(JSON.stringify(value))
  return typeof value === 'string' ? `"${value}` : value
}

/** Characters of a number that is compared by its value; longer ones are compared as written. */
const MAX_NUMBER_CHARS = 1_000

function decimalOf(text: string): string {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text)
  if (match === null || text.length > MAX_NUMBER_CHARS) return text
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  const zeros = digits.length - significant.length
  if (significant === '') return '0'
  return `${sign}${significant}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(zeros)}`
}
