import type { FaultDetail } from '../../errors.ts'
import type { Header } from '../headers.ts'
import { MAX_CHANGE_BYTES } from '../limits.ts'
import type { RequestRow } from '../requests/captured-request.ts'
import { patchJson, pointerOf } from './json-patch.ts'
import type { RequestChange } from './shapes.ts'

/**
 * The captured request as a destination wants it. Without a patch, its body stays as it is.
 * @throws PatchError where the body does not fit: then nothing is sent, rather than half of a change
 */
export function changeRequest(request: RequestRow, change: RequestChange | null): RequestRow {
  if (change === null) return request
  const { method = request.method, path = request.path, removeHeaders = [], patch } = change
  const removed = new Set(removeHeaders.map((name) => name.toLowerCase()))
  const headers = request.headers.filter(([name]): boolean => !removed.has(name.toLowerCase()))
  const body = patch ? patchJson(request.body, patch) : request.body
  return { ...request, method, path, headers: patch ? withoutDigests(headers) : headers, body }
}

/** Digests of the body as it was are wrong. */
export function withoutDigests(headers: Header[]): Header[] {
  const digests = new Set(['content-md5', 'content-digest', 'repr-digest', 'digest'])
  return headers.filter(([name]) => !digests.has(name.toLowerCase()))
}

/** Finds what is wrong with a change, beyond its shape. */
export function findWrongChange(change: RequestChange): FaultDetail[] {
  const details = (change.patch ?? []).flatMap(
    ({ op, path, from, value }, index): FaultDetail[] => {
      const at = `change.patch.${index}`
      const wrong = (name: string, message: string) => [{ path: `${at}.${name}`, message }]
      if (pointerOf(path) === null) return wrong('path', 'must be a JSON Pointer such as /data/id')
      const needsFrom = op === 'move' || op === 'copy'
      if (needsFrom && (from === undefined || pointerOf(from) === null))
        return wrong('from', 'must be a JSON Pointer such as /data/id')
      if (op === 'remove' && path === '') return wrong('path', 'must not be the whole body')
      if (op === 'move' && from === '') return wrong('from', 'must not be the whole body')
      const needsValue = op === 'add' || op === 'replace' || op === 'test'
      if (!needsValue) return []
      if (value === undefined) return wrong('value', 'is required')
      return hasRoundedNumber(value)
        ? wrong('value', 'must not have integers beyond 2^53, which would be rounded')
        : []
    },
  )
  if (JSON.stringify(change).length > MAX_CHANGE_BYTES)
    details.push({ path: 'change', message: `must have up to ${MAX_CHANGE_BYTES} bytes of JSON` })
  return details
}

/** Whether digits of a number may have been lost when the request of the owner was parsed. */
function hasRoundedNumber(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value)
  return typeof value === 'object' && value !== null && Object.values(value).some(hasRoundedNumber)
}
