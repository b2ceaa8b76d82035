import { createHash } from 'node:crypto'
import {
  createRequestValues,
  parseField,
  type ReadableRequest,
} from '../conditions/request-values.ts'
import { findHeader } from '../headers.ts'
import { REPEAT_HEADERS } from './repeat-headers.ts'

/**
 * The key by which a repeated request is recognized: a hash, because a sender may choose a long one.
 * @param field where the endpoint finds it, such as `body/id`; null for the usual headers
 * @returns a UUID, which PostgreSQL stores in 16 bytes; null where the request has no such value
 */
export function repeatKeyOf(request: ReadableRequest, field: string | null): string | null {
  const found = field === null ? usualKey(request) : chosenKey(request, field)
  if (found === null) return null
  return createHash('sha256').update(found).digest('hex').slice(0, 32)
}

/** With its name: ids of two kinds are never the same. */
function usualKey({ headers }: ReadableRequest): string | null {
  for (const name of REPEAT_HEADERS) {
    const value = findHeader(headers, name)?.trim()
    if (value) return `${name} ${value}`
  }
  return null
}

function chosenKey(request: ReadableRequest, text: string): string | null {
  const field = parseField(text)
  const value = field && createRequestValues(request, () => false).textOf(field)
  return value ? `${text} ${value}` : null
}
