import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Logger } from '../log.ts'

/** What a stream of server-sent events shows. */
export type EventStreamSource = {
  /** The `event:` of each. */
  name: string
  /** What is to be shown now, as JSON; null when there is nothing any more, which ends the stream. */
  read(): Promise<object | null>
  /** Calls `wake` when something may have changed; gives back how to stop that. */
  subscribe(wake: () => void): () => void
  /** Throws when whoever asked may not any more; asked every 15 seconds. */
  recheckAccess?(): Promise<unknown>
  /** Milliseconds between two events, 1,000 by default. */
  minIntervalMs?: number
}

export type EventStreams = {
  /** Answers with a stream: what is now, then what it becomes, until the client or the service goes. */
  stream(reply: FastifyReply, source: EventStreamSource): Promise<void>
}

/** Milliseconds between two events of one stream: nobody reads faster. */
const DEFAULT_INTERVAL_MS = 1_000

/** Milliseconds between two comments, which keep proxies from closing a silent stream and show us who has gone. */
export const HEARTBEAT_MS = 15_000

/** Server-sent events for the routes of `app`; all streams end when it closes. */
export function createEventStreams(app: FastifyInstance): EventStreams {
  const open = new Set<() => void>()
  app.addHook('preClose', async () => open.forEach((end) => end()))
  return {
    async stream(reply, source) {
      // A first look that fails is an ordinary answer.
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
  }
}

/** Answers with the head of a stream of events; what follows is written to `raw`. */
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

/** @returns how to end it */
function follow(raw: ServerResponse, source: EventStreamSource, first: object | null, log: Logger): () => void {
  let last = ''
  let isStale = false
  let timer: NodeJS.Timeout | undefined

  function show(value: object | null): void {
    if (value === null) return end()
    const text = JSON.stringify(value)
    if (text === last || raw.writableEnded) return
    last = text
    raw.write(`event: ${source.name}\ndata: ${text}\n\n`)
  }

  /** A client that reads slowly gets the newest when it has read what it was sent. */
  async function look(): Promise<void> {
    timer = undefined
    if (raw.writableNeedDrain) return void raw.once('drain', wake)
    isStale = false
    try {
      show(await source.read())
    } catch (error) {
      log.warn({ err: error }, 'an event could not be read')
      end()
    }
    if (isStale) wake()
  }

  function wake(): void {
    isStale = true
    if (!raw.writableEnded) timer ??= setTimeout(() => void look(), source.minIntervalMs ?? DEFAULT_INTERVAL_MS)
  }

  function beat(): void {
    if (!raw.writableNeedDrain) raw.write(':\n\n')
    source.recheckAccess?.().catch(end)
  }

  function end(): void {
    unsubscribe()
    clearInterval(heartbeat)
    clearTimeout(timer)
    raw.end()
  }

  const unsubscribe = source.subscribe(wake)
  const heartbeat = setInterval(beat, HEARTBEAT_MS)
  raw.write('retry: 2000\n\n')
  show(first)
  return end
}
