import { Type, type TSchema } from 'typebox'
import { STATUS_OF } from '../errors.ts'

/** A moment, ISO 8601 in UTC with milliseconds. The store hands out Dates; they are written as this. */
export const Timestamp = Type.String({ format: 'date-time' })
export const Uuid = Type.String({ format: 'uuid' })

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
  { description: 'Failure' },
)
