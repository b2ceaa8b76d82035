import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../store/database.ts'
import { findEndpoint, type EncryptedEndpoint } from './endpoints/store.ts'
import { MAX_PAGE_BYTES } from './limits.ts'
import { omitSecrets, presentEndpoint, presentRequest } from './present.ts'
import type { RequestRow } from './requests/captured-request.ts'
import { findSeqBefore, listRequests } from './requests/store.ts'
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

/**
 * Milliseconds between two comments, which keep proxies from closing an idle stream. Each also
 * checks for new requests.
 */
const HEARTBEAT_MS = 15_000

export type RequestEventsDeps = { db: Db; secretKey: string; webhookBaseUrl: string }

/** The state of one stream. */
export type OpenStream = {
  readonly workspaceId: string
  readonly endpointId: string
  /** Throws when the client has lost its access. */
  readonly recheckAccess: () => Promise<unknown>
  readonly response: ServerResponse
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
  const { workspaceId, endpointId, recheckAccess, response, wakeSignal, signal } = stream
  // The first ID is sent at once, so that a client that disconnects before the first request
  // misses none.
  response.write(`retry: 2000\nid: ${stream.last}\nevent: ready\ndata: {}\n\n`)
  let endpoint = await findEndpoint(deps.db, workspaceId, endpointId)
  wakeSignal.wake(false)
  for (;;) {
    const reason = await wakeSignal.wait(HEARTBEAT_MS)
    if (signal.aborted) return
    if (reason === null) {
      response.write(':\n\n')
      await recheckAccess()
    }
    if (reason === 'changed') {
      endpoint = await findEndpoint(deps.db, workspaceId, endpointId)
      if (!endpoint) return void response.write('event: deleted\ndata: {}\n\n')
      writeEndpoint(deps, response, endpoint)
    }
    if (endpoint) await writeNewRequests(deps, stream, endpoint)
  }
}

function writeEndpoint(
  { webhookBaseUrl }: RequestEventsDeps,
  response: ServerResponse,
  endpoint: EncryptedEndpoint,
): void {
  const data = JSON.stringify(presentEndpoint(omitSecrets(endpoint), webhookBaseUrl))
  response.write(`event: endpoint\ndata: ${data}\n\n`)
}

async function writeNewRequests(
  deps: RequestEventsDeps,
  stream: OpenStream,
  endpoint: EncryptedEndpoint,
): Promise<void> {
  const { response, signal } = stream
  for (let hasMore = true; hasMore && !signal.aborted;) {
    const page = await listRequests(deps.db, endpoint.id, {
      order: 'asc',
      from: stream.last,
      limit: PAGE_REQUESTS,
      maxBytes: MAX_PAGE_BYTES,
    })
    if (page.hasMore && (await skipIfFarBehind(deps.db, stream))) continue
    for (const row of page.rows) writeRequest(deps, response, row, endpoint)
    stream.last = page.rows.at(-1)?.seq ?? stream.last
    hasMore = page.hasMore
    if (page.rows.length > 0) await waitForClient(response, signal)
  }
}

/** @returns whether the stream was too far behind, and resumes with the newest page */
async function skipIfFarBehind(db: Db, stream: OpenStream): Promise<boolean> {
  const furthest = await findSeqBefore(db, stream.endpointId, MAX_REQUESTS_BEHIND)
  if (furthest === null || furthest <= stream.last) return false
  stream.last = (await findSeqBefore(db, stream.endpointId, PAGE_REQUESTS)) ?? stream.last
  stream.response.write('event: skipped\ndata: {}\n\n')
  return true
}

function writeRequest(
  { secretKey }: RequestEventsDeps,
  response: ServerResponse,
  row: RequestRow,
  endpoint: EncryptedEndpoint,
): void {
  const data = JSON.stringify({
    ...presentRequest(row),
    signature: verifyRequestSignature(row, endpoint, secretKey),
  })
  response.write(`id: ${row.seq}\nevent: request\ndata: ${data}\n\n`)
}

/**
 * Waits for the interval between pages and, when the client reads more slowly than that, until it
 * is ready.
 */
async function waitForClient(response: ServerResponse, signal: AbortSignal): Promise<void> {
  await sleep(PAGE_INTERVAL_MS, undefined, { signal }).catch(() => {})
  if (!response.writableNeedDrain || signal.aborted) return
  await new Promise<void>((resolve) => {
    response.once('drain', resolve)
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
