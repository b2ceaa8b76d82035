import type { TSchema } from 'typebox'
import type { Door } from '../http/auth.ts'
import { Failure } from '../http/schema.ts'
import type { Parts } from './parts.ts'

export type AbuseRoutesOptions = Parts & { door: Door }

export const TAGS = ['Attack reporting']

/** For routes that need an account. */
export const SECURITY: Record<string, string[]>[] = [{ token: [] }, { session: [] }]

/** Typed as any schema, because rows hold Dates where the answer holds their text. */
export function answers(success: TSchema, status = 200): Record<string, TSchema> {
  return { [status]: success, '4xx': Failure, '5xx': Failure }
}
