import { Type, type TSchema } from 'typebox'
import { STATUS_OF } from '../errors.ts'

/**
 * A timestamp, ISO 8601 in UTC with milliseconds. The store returns Dates, which are serialized to
 * it.
 */
export const Timestamp = Type.String({ format: 'date-time' })
export const Uuid = Type.String({ format: 'uuid' })

/**
 * Length limits in characters. Every string of a request schema has its own limit or one of these.
 */
export const MAX_LENGTH = {
  address: 100,
  host: 1_000,
  email: 320,
  date: 64,
  header: 16_384,
} as const

/** The largest value of PostgreSQL’s `integer`: a larger one in a query would be an internal error. */
export const MAX_INTEGER = 2 ** 31 - 1

/** The largest value of a `bigint` column that JavaScript holds exactly. */
export const MAX_BIGINT = Number.MAX_SAFE_INTEGER

/** A date or a timestamp in ISO 8601. */
export const DayOrMoment = {
  anyOf: [{ format: 'date-time' }, { format: 'date' }],
  maxLength: MAX_LENGTH.date,
}

/** An IPv4 or IPv6 address in a query. */
export const IpAddress = {
  anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }],
  maxLength: MAX_LENGTH.address,
}

export function Nullable<T extends TSchema>(schema: T, options: { description?: string } = {}) {
  return Type.Union([schema, Type.Null()], options)
}

/** The envelope of a success: `{success: true, data}`. */
export function Success<T extends TSchema>(data: T) {
  return Type.Object({ success: Type.Literal(true), data })
}

/** The body of every failure under `/api`. */
export const Failure = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.String({ description: 'A message for people.' }),
    code: Type.Enum(Object.keys(STATUS_OF), { description: 'A stable code for programs.' }),
    details: Type.Optional(
      Type.Array(Type.Object({ path: Type.String(), message: Type.String() })),
    ),
  },
  { description: 'Failure', title: 'Failure' },
)

/** The body of a success without data. */
export const Done = Type.Object({ success: Type.Literal(true) }, { title: 'Done' })

/** OpenAPI security of a route that requires an account. */
export const security: Record<string, string[]>[] = [{ token: [] }, { session: [] }]

/**
 * The responses of a route. Typed as any schema, because rows hold Dates and the response holds
 * their text.
 */
export function responses(success: TSchema, status = 200): Record<string, TSchema> {
  return { [status]: success, ...failures }
}

/** The responses of a route whose success is not JSON. */
export const failures: Record<string, TSchema> = { '4xx': Failure, '5xx': Failure }

/**
 * The responses of a route that does not return JSON: its media type, and the schema of one line or
 * event.
 */
export function responsesAs(
  type: string,
  schema: TSchema,
  description = 'Success',
): Record<string, TSchema> {
  const success = { description, content: { [type]: { schema } } }
  return { 200: success, ...failures }
}

/** The content of a file. */
export const Bytes = Type.String({ format: 'binary' })

/**
 * Names schemas in the OpenAPI document, so that they are shared and client generators create types
 * for them.
 */
export function nameComponents(schemas: Record<string, TSchema>): void {
  for (const [title, schema] of Object.entries(schemas)) Object.assign(schema, { title })
}

/** The requested page of a list. */
export const PageQuery = Type.Object({
  page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
})

/** The order of a list: one of these properties, with `-` in front for descending order. */
export function OrderOf<const K extends string>(keys: readonly K[]) {
  const orders = keys.flatMap((key): (K | `-${K}`)[] => [key, `-${key}`])
  return Type.Optional(
    Type.Enum(orders, { description: 'Order of the list; `-` in front of it reverses it.' }),
  )
}

/** Words that all have to be part of a row. */
export const SearchText = Type.Optional(
  Type.String({ maxLength: 100, description: 'Only rows that contain these words.' }),
)

/** The position of a page in the whole list. */
export const Pagination = Type.Object(
  { page: Type.Integer(), total: Type.Integer(), totalPages: Type.Integer() },
  { title: 'Pagination' },
)

type Page = { page: number; limit: number }

/** Converts a page to limit and offset. */
export function sliceOf({ page, limit }: Page): { limit: number; offset: number } {
  return { limit, offset: (page - 1) * limit }
}

/** @param total of all pages together */
export function paginationOf({ page, limit }: Page, total: number) {
  return { page, total, totalPages: Math.ceil(total / limit) }
}
