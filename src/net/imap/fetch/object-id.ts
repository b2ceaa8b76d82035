import { stringOf, stringsOf, type Value } from '../connection/response.ts'
import type { Wire } from '../connection/wire.ts'

const ATTRIBUTES = [
  { capability: 'X-GM-EXT-1', attribute: 'X-GM-MSGID' },
  { capability: 'OBJECTID', attribute: 'EMAILID' },
]

/** The FETCH item for identifiers of messages; undefined where the server has none. */
export function objectIdAttribute({
  capabilities,
}: Pick<Wire, 'capabilities'>): string | undefined {
  return ATTRIBUTES.find(({ capability }) => capabilities.has(capability))?.attribute
}

/** Reads an identifier: `EMAILID (M6d99ac3275bb4e)`, but `X-GM-MSGID 1278455344230334865`. */
export function objectIdOf(pairs: ReadonlyMap<string, Value>): string | null {
  const found = ATTRIBUTES.map(({ attribute }) => pairs.get(attribute)).find(
    (value) => value !== undefined,
  )
  return Array.isArray(found) ? (stringsOf(found)[0] ?? null) : stringOf(found)
}
