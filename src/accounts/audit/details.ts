import { isUuid } from '../../store/uuid.ts'

/**
 * Characters of one value in an entry. Longer values are truncated: an entry records the action,
 * not uploaded lists.
 */
const MAX_VALUE_CHARS = 500

/** Fields of one request in an entry. Schemas let fields pass that they do not name. */
const MAX_FIELDS = 40
const FIELD_NAME = /^[A-Za-z]\w{0,39}$/

/** Replaces a value that may be secret. */
const HIDDEN = '…'

const SECRET_FIELDS = new Set(['password', 'token', 'secret'])

/**
 * Fields of routes for members whose values are never secret. A field that is not listed appears by
 * name only, so that a secret of a new route cannot get into the log by omission.
 */
const PUBLIC_FIELDS = new Set([
  'actionLinks',
  'address',
  'allMailOnce',
  'cors',
  'deduplicate',
  'destPrefix',
  'dnsRecords',
  'dnsbl',
  'domain',
  'dryRun',
  'email',
  'enabled',
  'expiresInDays',
  'folder',
  'folders',
  'host',
  'ip',
  'kind',
  'kinds',
  'label',
  'lists',
  'minutes',
  'mode',
  'moveTo',
  'name',
  'plan',
  'port',
  'provider',
  'quietHours',
  'responseStatus',
  'responseType',
  'role',
  'scopes',
  'secure',
  'template',
  'timeout',
  'tlsPorts',
  'tlsVerify',
  'type',
  'user',
])

/** Objects whose fields are recorded like those of the request. */
const NESTED_FIELDS = new Set(['source', 'destination'])

/** A request, as far as its parameters and its body are concerned. */
export type AuditedRequest = { params: unknown; body: unknown }

/** The fields of an administrator’s request, without secrets. */
export function administratorDetails({ params, body }: AuditedRequest): Record<string, unknown> {
  const fields = Object.entries({ ...(params as object), ...(isPlain(body) && body) })
  return Object.fromEntries(
    named(fields)
      .filter(([name]) => !SECRET_FIELDS.has(name))
      .map(([name, value]) => [name, bounded(value)]),
  )
}

/** The fields of a member’s request, with `…` for values that may be secret. */
export function memberDetails({ params, body }: AuditedRequest): Record<string, unknown> {
  const { workspaceId: _, ...rest } = params as Record<string, unknown>
  return { ...publicFields(rest), ...(isPlain(body) && publicFields(body)) }
}

/** How deep recorded fields are nested. A body that no schema describes may be nested endlessly. */
const MAX_DEPTH = 3

function publicFields(fields: object, depth = 1): Record<string, unknown> {
  return Object.fromEntries(
    named(Object.entries(fields)).map(([name, value]) => [name, publicValue(name, value, depth)]),
  )
}

function named(fields: [string, unknown][]): [string, unknown][] {
  return fields.filter(([name]) => FIELD_NAME.test(name)).slice(0, MAX_FIELDS)
}

function publicValue(name: string, value: unknown, depth: number): unknown {
  if (NESTED_FIELDS.has(name) && isPlain(value))
    return depth < MAX_DEPTH ? publicFields(value, depth + 1) : HIDDEN
  const isPublic = PUBLIC_FIELDS.has(name) || (typeof value === 'string' && isUuid(value))
  return isPublic ? bounded(value) : HIDDEN
}

/** Uploads are buffers, whose bytes are no fields. */
function isPlain(value: unknown): value is object {
  return (
    typeof value === 'object' &&
    value !== null &&
    [Object.prototype, null].includes(Object.getPrototypeOf(value))
  )
}

/** A value of limited length. JSON that only an escape can express is recorded as text. */
function bounded(value: unknown): unknown {
  const text = typeof value === 'string' ? value : jsonOf(value)
  if (text === undefined) return undefined
  if (text.length > MAX_VALUE_CHARS) return `${text.slice(0, MAX_VALUE_CHARS)}…`
  return typeof value === 'object' && (text === HIDDEN || text.includes('\\u')) ? text : value
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    // Nested more deeply than the call stack: only a body that no schema describes.
    return HIDDEN
  }
}
