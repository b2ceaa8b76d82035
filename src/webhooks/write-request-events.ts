import { setTimeout as sleep } from 'node:timers/promises'
import { HEARTBEAT_MS, type EventWriter } from '../http/events/event-writer.ts'
import type { Db } from '../store/database.ts'
import { findEndpoint, type EncryptedEndpoint } from './endpoints/endpoints.sql.ts'
import { MAX_PAGE_BYTES } from './limits.ts'
import {
  omitSecrets,
  presentEndpoint,
  presentRequest,
  type EndpointPlaces,
} from './present-request.ts'
import type { RequestRow } from './requests/captured-request.ts'
import { findSeqBefore, listRequests } from './requests/captured-requests.sql.ts'
import { verifyRequestSignature } from './requests/verify-signature.ts'
import type { WakeSignal } from './wake-signal.ts'

/**
 * Requests per page and milliseconds between two pages: four thousand requests a second, more than
 * a person can read.
 */
const PAGE_REQUESTS = 200
const PAGE_INTERVAL_MS = 50

/**
 * A stream that is behind by more than this resumes with the newest page, because the older
 * requests are about to be deleted.
 */
const MAX_REQUESTS_BEHIND = 1_000

export type RequestEventsDeps = { db: Db; secretKey: string } & EndpointPlaces

/** The state of one stream. */
export type OpenStream = {
  readonly workspaceId: string
  readonly endpointId: string
  /** Throws when the client has lost its access. */
  readonly recheckAccess: () => Promise<unknown>
  readonly writer: EventWriter
  readonly wakeSignal: WakeSignal
  /** Aborted when the client has disconnected or the service stops. */
  readonly signal: AbortSignal
  /** The number of the last request that was written. */
  last: number
}

/**
 * Writes the events of a stream until its signal is aborted or its endpoint is deleted.
 * @throws what `recheckAccess` throws
 */
export async function writeRequestEvents(
  deps: RequestEventsDeps,
  stream: OpenStream,
): Promise<void> {
  const { workspaceId, endpointId, recheckAccess, writer, wakeSignal, signal } = stream
  // The first ID is sent at once, so that a client that disconnects before the first request
  // misses none.
  writer.send({ id: stream.last, name: 'ready', data: {} })
  let endpoint = await findEndpoint(deps.db, workspaceId, endpointId)
  wakeSignal.wake(false)
  for (;;) {
    const reason = await wakeSignal.wait(HEARTBEAT_MS)
    if (signal.aborted) return
    if (reason === null) await recheckAccess()
    if (reason === 'changed') {
      endpoint = await findEndpoint(deps.db, workspaceId, endpointId)
      if (!endpoint) return writer.send({ name: 'deleted', data: {} })
      writeEndpoint(deps, writer, endpoint)
    }
    if (endpoint) await writeNewRequests(deps, stream, endpoint)
  }
}

function writeEndpoint(
  places: RequestEventsDeps,
  writer: EventWriter,
  endpoint: EncryptedEndpoint,
): void {
  writer.send({ name: 'endpoint', data: presentEndpoint(omitSecrets(endpoint), places) })
}

async function writeNewRequests(
  deps: RequestEventsDeps,
  stream: OpenStream,
  endpoint: EncryptedEndpoint,
): Promise<void> {
  const { writer, signal } = stream
  for (let hasMore = true; hasMore && !signal.aborted;) {
    const page = await listRequests(deps.db, endpoint.id, {
      order: 'asc',
      from: stream.last,
      limit: PAGE_REQUESTS,
      maxBytes: MAX_PAGE_BYTES,
    })
    if (page.hasMore && (await skipIfFarBehind(deps.db, stream))) continue
    for (const row of page.rows) writeRequest(deps, writer, row, endpoint)
    stream.last = page.rows.at(-1)?.seq ?? stream.last
    hasMore = page.hasMore
    if (page.rows.length > 0) await waitForClient(writer, signal)
  }
}

/** @returns whether the stream was too far behind, and resumes with the newest page */
async function skipIfFarBehind(db: Db, stream: OpenStream): Promise<boolean> {
  const furthest = await findSeqBefore(db, stream.endpointId, MAX_REQUESTS_BEHIND)
  if (furthest === null || furthest <= stream.last) return false
  stream.last = (await findSeqBefore(db, stream.endpointId, PAGE_REQUESTS)) ?? stream.last
  stream.writer.send({ name: 'skipped', data: {} })
  return true
}

function writeRequest(
  { secretKey }: RequestEventsDeps,
  writer: EventWriter,
  row: RequestRow,
  endpoint: EncryptedEndpoint,
): void {
  const signature = verifyRequestSignature(row, endpoint, secretKey)
  writer.send({ id: row.seq, name: 'request', data: { ...presentRequest(row), signature } })
}

/**
 * Waits for the interval between pages and, when the client reads more slowly than that, until it
 * is ready.
 */
async function waitForClient(writer: EventWriter, signal: AbortSignal): Promise<void> {
  await sleep(PAGE_INTERVAL_MS, undefined, { signal }).catch(() => {})
  if (!signal.aborted) await writer.caughtUp()
}
