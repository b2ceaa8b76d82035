import type { Column } from '../../store/copy/binary-copy.ts'
import type { Surplus } from '../capture/surplus.ts'
import type { Header } from '../headers.ts'
import type { Unsendable } from '../forwarding/unsendable.ts'
import type { AnsweredBy } from '../rules/shapes.ts'

/** A request as it is stored. The API presents it as `WebhookRequest` in `shapes.ts`. */
export type CapturedRequest = {
  /** The 16 bytes of its UUID. */
  id: Buffer
  endpointId: string
  method: string
  path: string
  query: string
  headers: Header[]
  trailers: Header[] | null
  ip: string
  body: Buffer
  bodySize: number
  contentType: string | null
  receivedAt: Date
  durationMs: number
  httpVersion: string
  preflight: boolean
  aborted: boolean
  rejected: string | null
  responseStatus: number | null
  /** Bytes that followed the request on its connection and begin no other request. */
  surplus: Surplus | null
  /** The rule that answered; null for the response of the endpoint. */
  answeredBy: AnsweredBy | null
}

/** The id of the earlier request that a request repeats; null for none. */
type Repeated = { repeatOf: string | null }

/** A delivery that is written with its request. */
export type NewDelivery = {
  destinationId: string
  /** The hash of the value by which the destination orders requests; null where it does not. */
  orderKey: string | null
  /** Why it is only listed; null where the request can be sent. */
  unsendable: Unsendable | null
}

/** A request with the deliveries that are stored in the same transaction. */
export type StoredCapture = CapturedRequest & {
  /** By which repetitions are recognized; null where the request has none. */
  repeatKey?: string | null
  deliveries?: NewDelivery[]
}

/**
 * A captured request as it is read from the database. `seq` numbers the requests of all endpoints.
 */
export type RequestRow = Omit<CapturedRequest, 'id' | 'endpointId'> &
  Repeated & { seq: number; id: string }

/** A request’s endpoint and id: the primary key of its row. */
export type RequestKey = Pick<CapturedRequest, 'endpointId' | 'id'>

type WithoutName<C> = C extends [string, infer T, infer V] ? [type: T, valueOf: V] : never

/**
 * The one list of fields: the type of each column and its value. The copied and the selected
 * columns follow from it.
 */
const FIELDS: Record<keyof CapturedRequest, WithoutName<Column<CapturedRequest>>> = {
  id: ['uuid', ({ id }) => id],
  endpointId: ['uuid', ({ endpointId }) => endpointId],
  method: ['text', ({ method }) => method],
  path: ['text', ({ path }) => path],
  query: ['text', ({ query }) => query],
  headers: ['json', ({ headers }) => JSON.stringify(headers)],
  trailers: ['json', ({ trailers }) => trailers && JSON.stringify(trailers)],
  ip: ['inet', ({ ip }) => ip],
  body: ['bytea', ({ body }) => body],
  bodySize: ['int8', ({ bodySize }) => bodySize],
  contentType: ['text', ({ contentType }) => contentType],
  receivedAt: ['timestamptz', ({ receivedAt }) => receivedAt],
  durationMs: ['float4', ({ durationMs }) => durationMs],
  httpVersion: ['text', ({ httpVersion }) => httpVersion],
  preflight: ['bool', ({ preflight }) => preflight],
  aborted: ['bool', ({ aborted }) => aborted],
  rejected: ['text', ({ rejected }) => rejected],
  responseStatus: ['int2', ({ responseStatus }) => responseStatus],
  surplus: ['json', ({ surplus }) => surplus && JSON.stringify(surplus)],
  answeredBy: ['json', ({ answeredBy }) => answeredBy && JSON.stringify(answeredBy)],
}

/** The columns that are copied into `webhook_request`. */
export const COPIED_COLUMNS: Column<StoredCapture>[] = [
  ...Object.entries(FIELDS).map(
    ([field, [type, valueOf]]) => [toSnakeCase(field), type, valueOf] as Column<StoredCapture>,
  ),
  ['stored_bytes', 'int4', storedBytes],
  // By which workers find it; null keeps all others out of the index.
  ['forwarded', 'bool', ({ deliveries }) => (deliveries?.length ? true : null)],
]

/** The columns of a `RequestRow`. */
export const SELECTED_COLUMNS = [
  'seq',
  'repeatOf',
  ...(Object.keys(FIELDS) as (keyof CapturedRequest)[]).filter((field) => field !== 'endpointId'),
] as const

function toSnakeCase(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Bytes that a row takes besides its texts and its body: its other columns and its index entry. */
const ROW_BYTES = 200
const HEADER_BYTES = 6

/** Counts the bytes of a request against the workspace’s quota. */
export function storedBytes({ path, query, headers, trailers, body }: CapturedRequest): number {
  return (
    ROW_BYTES +
    path.length +
    query.length +
    countHeaderBytes(headers) +
    countHeaderBytes(trailers ?? []) +
    body.length
  )
}

function countHeaderBytes(headers: Header[]): number {
  let bytes = 0
  for (const [name, value] of headers) bytes += name.length + value.length + HEADER_BYTES
  return bytes
}
