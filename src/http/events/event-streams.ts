import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Logger } from '../../log.ts'
import {
  openEventWriter,
  untilEnded,
  type EventWriter,
  type ServerSentEvent,
} from './event-writer.ts'

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
  sequence(reply: FastifyReply, events: AsyncGenerator<ServerSentEvent, void>): Promise<void>
}

/** Minimum time between two events of one stream, unless the source sets its own. */
const DEFAULT_INTERVAL_MS = 1_000

/** Creates the event streams for the routes of `app`, which all end when it closes. */
export function createEventStreams(app: FastifyInstance): EventStreams {
  const open = new Set<EventWriter>()
  app.addHook('preClose', async () => open.forEach((writer) => writer.end()))
  return {
    async stream(reply, source) {
      // An error in the first read is an ordinary error response.
      const first = await source.read()
      const recheckAccess = () => void source.recheckAccess?.().catch(writer.end)
      const writer = openEventWriter(reply, recheckAccess)
      open.add(writer)
      const unsubscribe = follow(writer, source, first, reply.log as Logger)
      const stopWatchingAccess = source.onAccessChange?.(recheckAccess)
      await untilEnded(writer)
      open.delete(writer)
      unsubscribe()
      stopWatchingAccess?.()
    },
    async sequence(reply, events) {
      const first = await events.next()
      const writer = openEventWriter(reply)
      open.add(writer)
      try {
        for (let next = first; !next.done && !writer.ended.aborted; next = await events.next()) {
          writer.send(next.value)
          await writer.caughtUp()
        }
        await events.return()
      } catch (error) {
        reply.log.warn({ err: error }, 'a sequence of events was interrupted')
      } finally {
        open.delete(writer)
        writer.end()
      }
    },
  }
}

/** Sends the state after every change. @returns a function that stops it */
function follow(
  writer: EventWriter,
  source: EventStreamSource,
  first: object | null,
  log: Logger,
): () => void {
  let last = ''
  let readAt = performance.now()
  let isStale = false
  let timer: NodeJS.Timeout | undefined

  function send(value: object | null): void {
    if (value === null) return writer.end()
    const text = JSON.stringify(value)
    if (text === last) return
    last = text
    writer.send({ name: source.name, data: text })
  }

  /** Sends the latest state; a slow client gets it when it has read the previous event. */
  async function sendLatest(): Promise<void> {
    await writer.caughtUp()
    if (writer.ended.aborted) return
    isStale = false
    readAt = performance.now()
    try {
      send(await source.read())
    } catch (error) {
      log.warn({ err: error }, 'an event could not be read')
      writer.end()
    }
    timer = undefined
    if (isStale) wake()
  }

  /** The first change after a quiet interval is sent at once. */
  function wake(): void {
    isStale = true
    const wait = readAt + (source.minIntervalMs ?? DEFAULT_INTERVAL_MS) - performance.now()
    if (!writer.ended.aborted) timer ??= setTimeout(() => void sendLatest(), Math.max(0, wait))
  }

  const unsubscribe = source.subscribe(wake)
  send(first)
  return () => {
    unsubscribe()
    clearTimeout(timer)
  }
}
