import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Logger } from '../../log.ts'

/** The source of a stream of server-sent events. */
export type EventStreamSource = {
  /** The name of every event. */
  name: string
  /** Reads the current state, sent as JSON; null ends the stream. */
  read(): Promise<object | null>
  /** Calls `wake` after possible changes. @returns a function that unsubscribes */
  subscribe(wake: () => void): () => void
  /** Throws when the client has lost access; called every 15 seconds. */
  recheckAccess?(): Promise<unknown>
  /** Calls `recheck` when the access may have changed. @returns a function that unsubscribes */
  onAccessChange?(recheck: () => void): () => void
  /** Milliseconds between two events, 1,000 by default. */
  minIntervalMs?: number
}

export type EventStreams = {
  /**
   * Responds with a stream: the current state, then every change, until client or service ends it.
   */
  stream(reply: FastifyReply, source: EventStreamSource): Promise<void>
  /**
   * Responds with these events in order, until there are no more, or client or service ends the
   * stream. An error before the first event is an ordinary error response.
   */
  sequence(reply: FastifyReply, events: AsyncGenerator<NamedEvent, void>): Promise<void>
}

/** One event of a sequence: its name, and its data, sent as JSON. */
export type NamedEvent = { name: string; data: object }

/** Minimum time between two events of one stream, unless the source sets its own. */
const DEFAULT_INTERVAL_MS = 1_000

/**
 * Time between two comments, which keep proxies from closing an idle stream and detect clients that
 * have disconnected.
 */
export const HEARTBEAT_MS = 15_000

/** Creates the event streams for the routes of `app`, which all end when it closes. */
export function createEventStreams(app: FastifyInstance): EventStreams {
  const open = new Set<() => void>()
  app.addHook('preClose', async () => open.forEach((end) => end()))
  return {
    async stream(reply, source) {
      // An error in the first read is an ordinary error response.
      const first = await source.read()
      const { raw, log } = startEventStream(reply)
      await new Promise<void>((resolve) => {
        const end = follow(raw, source, first, log as Logger)
        open.add(end)
        raw.once('close', () => {
          open.delete(end)
          end()
          resolve()
        })
      })
    },
    async sequence(reply, events) {
      const first = await events.next()
      const { raw, log } = startEventStream(reply)
      const end = () => raw.end()
      open.add(end)
      try {
        await writeSequence(raw, first, events)
      } catch (error) {
        log.warn({ err: error }, 'a sequence of events was interrupted')
      } finally {
        open.delete(end)
        end()
      }
    },
  }
}

/** Writes events as they come; a slow client gets the next one when it has read the others. */
async function writeSequence(
  raw: ServerResponse,
  first: IteratorResult<NamedEvent, void>,
  events: AsyncGenerator<NamedEvent, void>,
): Promise<void> {
  for (let next = first; !next.done && !raw.writableEnded; next = await events.next()) {
    const { name, data } = next.value
    const isFull = !raw.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
    if (isFull && !raw.destroyed) await Promise.race([once(raw, 'drain'), once(raw, 'close')])
    if (raw.destroyed) break
  }
  await events.return()
}

/** Sends the headers of an event stream. The events are then written to `raw`. */
export function startEventStream(reply: FastifyReply): FastifyReply {
  reply.hijack()
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  return reply
}

/** Sends the state after every change. @returns a function that ends the stream */
function follow(
  raw: ServerResponse,
  source: EventStreamSource,
  first: object | null,
  log: Logger,
): () => void {
  let last = ''
  let readAt = performance.now()
  let isStale = false
  let timer: NodeJS.Timeout | undefined

  function send(value: object | null): void {
    if (value === null) return end()
    const text = JSON.stringify(value)
    if (text === last || raw.writableEnded) return
    last = text
    raw.write(`event: ${source.name}\ndata: ${text}\n\n`)
  }

  /** Sends the latest state; a slow client gets it when it has read the previous event. */
  async function sendLatest(): Promise<void> {
    if (raw.writableNeedDrain) {
      timer = undefined
      return void raw.once('drain', wake)
    }
    isStale = false
    readAt = performance.now()
    try {
      send(await source.read())
    } catch (error) {
      log.warn({ err: error }, 'an event could not be read')
      end()
    }
    timer = undefined
    if (isStale) wake()
  }

  /** The first change after a quiet interval is sent at once. */
  function wake(): void {
    isStale = true
    const wait = readAt + (source.minIntervalMs ?? DEFAULT_INTERVAL_MS) - performance.now()
    if (!raw.writableEnded) timer ??= setTimeout(() => void sendLatest(), Math.max(0, wait))
  }

  function sendHeartbeat(): void {
    if (!raw.writableNeedDrain) raw.write(':\n\n')
    recheckAccess()
  }

  function recheckAccess(): void {
    source.recheckAccess?.().catch(end)
  }

  function end(): void {
    unsubscribe()
    stopWatchingAccess?.()
    clearInterval(heartbeat)
    clearTimeout(timer)
    raw.end()
  }

  const unsubscribe = source.subscribe(wake)
  const stopWatchingAccess = source.onAccessChange?.(recheckAccess)
  const heartbeat = setInterval(sendHeartbeat, HEARTBEAT_MS)
  raw.write('retry: 2000\n\n')
  send(first)
  return end
}
