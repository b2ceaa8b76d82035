import type { FastifyReply } from 'fastify'

/**
 * Time between two comments, which keep proxies from closing an idle stream and detect clients that
 * have disconnected.
 */
export const HEARTBEAT_MS = 15_000

/** Milliseconds after which a client that lost its connection makes a new one. */
const RETRY_MS = 2_000

/** One event: its name, and its data, an object or JSON text. */
export type ServerSentEvent = { name: string; data: object | string; id?: number }

/** Writes server-sent events to one client. */
export type EventWriter = {
  /** Sends an event, unless the stream has ended. */
  send(event: ServerSentEvent): void
  /** Whether the client has not read all of what was sent. */
  isBehind(): boolean
  /** Resolves when the client has read enough for further events, or the stream has ended. */
  caughtUp(): Promise<void>
  end: () => void
  /** Aborted when the stream has ended, or the client has disconnected. */
  ended: AbortSignal
}

/**
 * Responds with an event stream.
 * @param onHeartbeat called every 15 seconds
 */
export function openEventWriter(reply: FastifyReply, onHeartbeat?: () => void): EventWriter {
  reply.hijack()
  const { raw } = reply
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  raw.write(`retry: ${RETRY_MS}\n\n`)

  const ending = new AbortController()
  const { signal: ended } = ending
  const waiting: (() => void)[] = []
  const release = () => waiting.splice(0).forEach((resolve) => resolve())
  const heartbeat = setInterval(() => {
    if (!raw.writableNeedDrain) raw.write(':\n\n')
    onHeartbeat?.()
  }, HEARTBEAT_MS)

  function end(): void {
    clearInterval(heartbeat)
    ending.abort()
    release()
    raw.end()
  }

  raw.on('drain', release).once('close', end)
  // The client may have left before.
  if (raw.destroyed) end()
  return {
    send({ id, name, data }) {
      if (ended.aborted) return
      const text = typeof data === 'string' ? data : JSON.stringify(data)
      raw.write(`${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${text}\n\n`)
    },
    isBehind: () => raw.writableNeedDrain,
    async caughtUp() {
      if (raw.writableNeedDrain && !ended.aborted)
        await new Promise<void>((resolve) => waiting.push(resolve))
    },
    end,
    ended,
  }
}

/** Waits until a stream has ended. */
export async function untilEnded({ ended }: EventWriter): Promise<void> {
  if (!ended.aborted)
    await new Promise((resolve) => ended.addEventListener('abort', resolve, { once: true }))
}
