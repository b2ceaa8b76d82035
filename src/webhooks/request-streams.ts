import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Db } from '../store/database.ts'
import type { Notifications } from '../store/notifications.ts'
import { onRequestsCaptured } from './batched-notifier.ts'
import { onEndpointChange } from './endpoints/endpoints.ts'
import { findEndpoint, type EncryptedEndpoint } from './endpoints/store.ts'
import { MAX_PAGE_BYTES } from './limits.ts'
import { verifyRequestSignature } from './requests/verify-signature.ts'
import { findSeqBefore, findNewestSeq, listRequests } from './requests/store.ts'
import type { RequestRow } from './requests/captured-request.ts'
import { presentEndpoint, presentRequest, omitSecrets } from './present.ts'

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

export type RequestStream = {
  accountId: string
  endpointId: string
  /** The last number that the client has seen; null to start with the next captured request. */
  from: number | null
  /** Throws when the client has lost its access. */
  recheckAccess: () => Promise<unknown>
}

export type RequestStreams = {
  /**
   * Writes an event for each captured request until the client disconnects, the service stops or
   * the endpoint is deleted.
   */
  open(stream: RequestStream): Promise<(response: ServerResponse) => Promise<void>>
  close: () => void
}

type Deps = {
  db: Db
  notifications: Notifications
  secretKey: string
  webhookBaseUrl: string
  log: Logger
}

/**
 * Creates the event streams of captured requests. They read rows; notifications only report that
 * there are new ones.
 */
export function createRequestStreams({
  db,
  notifications,
  secretKey,
  webhookBaseUrl,
  log,
}: Deps): RequestStreams {
  const closing = new AbortController()
  const wakers = new Map<string, Set<(changed: boolean) => void>>()
  const wake = (endpointId: string, changed: boolean) =>
    wakers.get(endpointId)?.forEach((waker) => waker(changed))
  const wakeAll = () => wakers.forEach((_wakers, id) => wake(id, true))
  const unsubscribers = [
    onRequestsCaptured(notifications, (id) => wake(id, false)),
    onEndpointChange(notifications, ({ id }) => wake(id, true), wakeAll),
  ]

  async function follow(
    stream: RequestStream,
    from: number,
    response: ServerResponse,
  ): Promise<void> {
    const wakeSignal = createWakeSignal()
    const endpointWakers = wakers.get(stream.endpointId) ?? new Set()
    wakers.set(stream.endpointId, endpointWakers.add(wakeSignal.wake))
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const signal = AbortSignal.any([gone.signal, closing.signal])
    signal.addEventListener('abort', () => wakeSignal.wake(false))
    try {
      await writeEvents(stream, from, response, wakeSignal, signal)
    } finally {
      endpointWakers.delete(wakeSignal.wake)
      if (endpointWakers.size === 0) wakers.delete(stream.endpointId)
      response.end()
    }
  }

  async function writeEvents(
    { accountId, endpointId, recheckAccess }: RequestStream,
    from: number,
    response: ServerResponse,
    wakeSignal: WakeSignal,
    signal: AbortSignal,
  ): Promise<void> {
    // The first ID is sent at once, so that a client that disconnects before the first request
    // misses none.
    response.write(`retry: 2000\nid: ${from}\nevent: ready\ndata: {}\n\n`)
    let last = from
    let endpoint = await findEndpoint(db, accountId, endpointId)
    wakeSignal.wake(false)
    for (;;) {
      const reason = await wakeSignal.wait(HEARTBEAT_MS)
      if (signal.aborted) return
      if (reason === null) {
        response.write(':\n\n')
        await recheckAccess()
      }
      if (reason === 'changed') {
        endpoint = await findEndpoint(db, accountId, endpointId)
        if (!endpoint) return void response.write('event: deleted\ndata: {}\n\n')
        writeEvent(response, 'endpoint', presentEndpoint(omitSecrets(endpoint), webhookBaseUrl))
      }
      if (endpoint) last = await writeNewRequests(endpoint, last, response, signal)
    }
  }

  function writeRequest(
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

  /** @returns the number of the last request that was written */
  async function writeNewRequests(
    endpoint: EncryptedEndpoint,
    from: number,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<number> {
    const endpointId = endpoint.id
    let last = from
    for (let hasMore = true; hasMore && !signal.aborted;) {
      const page = await listRequests(db, endpointId, {
        order: 'asc',
        from: last,
        limit: PAGE_REQUESTS,
        maxBytes: MAX_PAGE_BYTES,
      })
      const furthest = page.hasMore
        ? await findSeqBefore(db, endpointId, MAX_REQUESTS_BEHIND)
        : null
      if (furthest !== null && furthest > last) {
        last = (await findSeqBefore(db, endpointId, PAGE_REQUESTS)) ?? last
        response.write('event: skipped\ndata: {}\n\n')
        continue
      }
      for (const row of page.rows) writeRequest(response, row, endpoint)
      last = page.rows.at(-1)?.seq ?? last
      hasMore = page.hasMore
      if (page.rows.length > 0) await waitForClient(response, signal)
    }
    return last
  }

  return {
    async open(stream) {
      const from = stream.from ?? (await findNewestSeq(db, stream.endpointId))
      return async (response) => {
        await follow(stream, from, response).catch((error: unknown) => {
          if (!(error instanceof Fault))
            log.warn({ err: error }, 'a stream of captured requests was interrupted')
        })
      }
    },
    close() {
      closing.abort()
      unsubscribers.forEach((unsubscribe) => unsubscribe())
    },
  }
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

function writeEvent(response: ServerResponse, event: string, data: object): void {
  response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
}

type WakeSignal = {
  wake: (changed: boolean) => void
  /** Waits for a wake-up and returns its reason, or null after these milliseconds. */
  wait(milliseconds: number): Promise<'captured' | 'changed' | null>
}

/** Creates a signal that remembers a wake-up until the next wait. */
function createWakeSignal(): WakeSignal {
  let reason: 'captured' | 'changed' | null = null
  let resolve: (() => void) | undefined
  return {
    wake(changed) {
      reason = changed || reason === 'changed' ? 'changed' : 'captured'
      resolve?.()
    },
    async wait(milliseconds) {
      if (reason === null) {
        await new Promise<void>((done) => {
          const timer = setTimeout(done, milliseconds)
          resolve = () => {
            clearTimeout(timer)
            done()
          }
        })
      }
      resolve = undefined
      const result = reason
      reason = null
      return result
    },
  }
}
