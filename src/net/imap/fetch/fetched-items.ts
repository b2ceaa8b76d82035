import { positiveOf, pairsOf, type Value } from '../connection/response.ts'

/** The items of one message, by their names in capitals. */
export type FetchedItems = Map<string, Value>

/**
 * Reads a FETCH response with a UID, and adds its items to those of earlier responses about the same
 * message: a server may send them in several (RFC 9051, 7.5.2).
 * @param known the items so far, by UID
 * @returns null for any other response
 */
export function addItems(
  values: Value[],
  known: Map<number, FetchedItems>,
): { uid: number; items: FetchedItems } | null {
  if (values[1] !== 'FETCH') return null
  const items = pairsOf(values[2])
  const uid = positiveOf(items.get('UID'))
  if (uid === null) return null
  const earlier = known.get(uid)
  if (earlier) for (const [name, value] of items) earlier.set(name, value)
  else known.set(uid, items)
  return { uid, items: earlier ?? items }
}
