import { parseConditions, readsVerified, type Matcher } from '../conditions/conditions.ts'
import { createRequestValues } from '../conditions/request-values.ts'
import type { CapturedRequest, NewDelivery } from '../requests/captured-request.ts'
import type { DestinationRow } from './destinations.sql.ts'
import { orderKeyOf, unsendableReason } from './forwardable.ts'

/** A destination, prepared once for many requests. */
export type PreparedDestination = Pick<DestinationRow, 'id' | 'orderMode' | 'orderKey'> & {
  matches: Matcher
  readsVerified: boolean
}

export function prepareDestinations(
  rows: Pick<DestinationRow, 'id' | 'when' | 'orderMode' | 'orderKey'>[],
): PreparedDestination[] {
  return rows.flatMap(({ when, ...row }): PreparedDestination[] => {
    const parsed = parseConditions(when)
    // One of a later version, whose conditions this one does not know, gets nothing.
    if ('wrong' in parsed) return []
    return [{ ...row, matches: parsed.matches, readsVerified: readsVerified(when) }]
  })
}

/**
 * The deliveries of a captured request: one for each destination whose conditions it meets.
 * @param mark of the endpoint
 */
export function deliveriesOf(
  destinations: PreparedDestination[],
  request: CapturedRequest,
  mark: string,
  isVerified: () => boolean,
): NewDelivery[] {
  const values = createRequestValues(request, isVerified)
  const unsendable = unsendableReason(request, mark)
  return destinations
    .filter(({ matches }) => matches(values))
    .map((destination) => ({
      destinationId: destination.id,
      orderKey: orderKeyOf(destination, request),
      unsendable,
    }))
}
