import type { Static } from 'typebox'
import { callerOf } from '../http/auth.ts'
import type { EventStreams, EventStreamSource } from '../http/events/event-streams.ts'
import { responsesAs } from '../http/http-schema.ts'
import type { App } from '../http/http-server.ts'
import type { Blocklists } from '../protocols/dnsbl/blocklists.ts'
import { blacklistCheck, checkAddress, countItems, publicIPv4 } from './blacklist.ts'
import { CHECK_DEADLINE_MS } from './check.ts'
import { writeReceipt } from './sharing/check-receipt.ts'
import { BlacklistProgress, type BlacklistItem, type BlacklistResult } from './shapes.ts'

type SweepRouteOptions = {
  events: EventStreams
  blocklists: Blocklists
  secretKey: string
}

/** Milliseconds between two events of a sweep: most lists answer within a few of them. */
const EVENT_INTERVAL_MS = 200

/** `/api/v1/blacklist-check/events`: the check, as its lists answer. */
export function sweepEventsRoute(
  app: App,
  { events, blocklists, secretKey }: SweepRouteOptions,
): void {
  app.get(
    `${blacklistCheck.path}/events`,
    {
      config: { limit: 'checks' },
      schema: {
        summary: 'Follow a blocklist check (server-sent events)',
        description:
          'Sends `sweep` events with the results so far: `{"total", "data", "receipt"}`. `data` has the shape of the ' +
          'check result. In the last event the check is complete and `receipt` is not null.',
        querystring: blacklistCheck.query,
        produces: ['text/event-stream'],
        response: responsesAs('text/event-stream', BlacklistProgress, 'The data of each event'),
      },
    },
    async (request, reply) => {
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      const { workspaceId } = callerOf(request)
      const receiptOf = (data: BlacklistResult) =>
        writeReceipt({ workspaceId, check: blacklistCheck.name, data }, secretKey, Date.now())
      const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(CHECK_DEADLINE_MS)])
      await events.stream(
        reply,
        createSweepSource(publicIPv4(request.query.ip), { blocklists, signal, receiptOf }),
      )
    },
  )
}

type SweepContext = {
  blocklists: Blocklists
  signal: AbortSignal
  receiptOf: (data: BlacklistResult) => string
}

/** Starts a sweep. Iterating it yields the answers so far, and ends after the last. */
function createSweepSource(
  ip: string,
  { blocklists, signal, receiptOf }: SweepContext,
): EventStreamSource {
  const started = performance.now()
  const items: BlacklistItem[] = []
  let wake = () => {}
  let isRead = false
  let end: BlacklistResult | Error | undefined
  checkAddress(ip, blocklists, signal, (item) => {
    items.push(item)
    wake()
  })
    .then(
      (result) => (end = result),
      (error: Error) => (end = error),
    )
    .finally(() => wake())

  function soFar(): BlacklistResult {
    const durationMs = Math.round(performance.now() - started)
    return {
      ...countItems(ip, [...items]),
      checkedAt: new Date().toISOString(),
      durationMs,
      warnings: [],
    }
  }

  return {
    name: 'sweep',
    minIntervalMs: EVENT_INTERVAL_MS,
    async read(): Promise<Static<typeof BlacklistProgress> | null> {
      if (end instanceof Error) throw end
      if (isRead) return null
      const total = blocklists.lists.length
      if (!end) return { total, data: soFar(), receipt: null }
      isRead = true
      wake()
      return { total, data: end, receipt: receiptOf(end) }
    },
    subscribe(onChange) {
      wake = onChange
      // Answers that arrived before the first reader.
      onChange()
      return () => (wake = () => {})
    },
  }
}
