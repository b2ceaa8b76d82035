import {
  createRequestValues,
  parseField,
  type ReadableRequest,
} from '../conditions/request-values.ts'
import type { RequestRow } from '../requests/captured-request.ts'
import { storedOrderKey } from './destination-settings.ts'
import { countHops, MAX_HOPS, marksOf } from './forwarding-marks.ts'
import type { Unsendable } from './unsendable.ts'

/**
 * Why a request is not forwarded; null where it can be.
 * @param mark of the endpoint that captured it
 */
export function unsendableReason(
  {
    headers,
    body,
    bodySize,
    aborted,
    rejected,
  }: Pick<RequestRow, 'headers' | 'body' | 'bodySize' | 'aborted' | 'rejected'>,
  mark: string,
): Unsendable | null {
  if (rejected !== null || aborted) return 'incomplete'
  if (bodySize > body.length) return 'truncated'
  if (marksOf(headers).includes(mark)) return 'loop'
  return countHops(headers) >= MAX_HOPS ? 'hops' : null
}

/** The value by which a destination orders a request; null where it does not. */
export function orderKeyOf(
  { orderMode, orderKey }: { orderMode: string; orderKey: string | null },
  request: ReadableRequest,
): string | null {
  const field = orderMode === 'key' && orderKey !== null ? parseField(orderKey) : null
  if (field === null) return null
  return storedOrderKey(createRequestValues(request, () => false).textOf(field) ?? '')
}
