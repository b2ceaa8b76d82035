import { Type, type TSchema } from 'typebox'
import { STATUS_OF } from '../errors.ts'

/** A moment, ISO 8601 in UTC with milliseconds. The store hands out Dates; they are written as this. */
export const Timestamp = Type.String({ format: 'date-time' })
export const Uuid = Type.String({ format: 'uuid' })

/** Longest texts of requests, in characters. Each string of a request schema has a bound of its own or one of these. */
export const MAX_LENGTH = { address: 100, host: 1_000, email: 320, date: 64, header: 16_384 } as const

/** A day or a moment, as ISO 8601 writes them. */
export const DayOrMoment = { anyOf: [{ format: 'date-time' }, { format: 'date' }], maxLength: MAX_LENGTH.date }

/** An IPv4 or IPv6 address in a query. */
export const Address = { anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }], maxLength: MAX_LENGTH.address }

export function Nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()])
}

/** The envelope of a success: `{success: true, data}`. */
export function Success<T extends TSchema>(data: T) {
  return Type.Object({ success: Type.Literal(true), data })
}

/** The body of every failure under `/api`. */
export const Failure = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.String({ description: 'A sentence a person understands.' }),
    code: Type.Enum(Object.keys(STATUS_OF), { description: 'A stable word for programs.' }),
    details: Type.Optional(Type.Array(Type.Object({ path: Type.String(), message: Type.String() }))),
  },
  { description: 'Failure', title: 'Failure' },
)

/** The body of a success that has nothing to tell. */
export const Done = Type.Object({ success: Type.Literal(true) }, { title: 'Done' })

/** Who may ask a route that needs an account, in the words of OpenAPI. */
export const security: Record<string, string[]>[] = [{ token: [] }, { session: [] }]

/** What a route may answer. Typed as any schema, because rows hold Dates where the answer holds their text. */
export function answers(success: TSchema, status = 200): Record<string, TSchema> {
  return { [status]: success, ...failures }
}

/** What a route answers that has no JSON for a success. */
export const failures: Record<string, TSchema> = { '4xx': Failure, '5xx': Failure }

/** What a route answers that is no JSON: its media type, and what one piece of it (a line, the data of an event) is. */
export function answersAs(type: string, schema: TSchema, description = 'Success'): Record<string, TSchema> {
  const success = { description, content: { [type]: { schema } } }
  return { 200: success, ...failures }
}

/** A file as it is. */
export const Bytes = Type.String({ format: 'binary' })

/** Names schemas in the description of the API, where they stand once and generators of clients make types of them. */
export function nameComponents(schemas: Record<string, TSchema>): void {
  for (const [title, schema] of Object.entries(schemas)) Object.assign(schema, { title })
}

/** Which page of a list is asked for. */
export const PageQuery = Type.Object({
  page: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 20 }),
})

/** Where a page stands among all. */
export const Pagination = Type.Object(
  { page: Type.Integer(), total: Type.Integer(), totalPages: Type.Integer() },
  { title: 'Pagination' },
)

type Page = { page: number; limit: number }

/** What a page takes, and what it leaves out before it begins. */
export function sliceOf({ page, limit }: Page): { limit: number; offset: number } {
  return { limit, offset: (page - 1) * limit }
}

/** @param total of all pages together */
export function paginationOf({ page, limit }: Page, total: number) {
  return { page, total, totalPages: Math.ceil(total / limit) }
}
