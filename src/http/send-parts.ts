import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

type Count = { bytes: number }

/** Of streams of parts, and of the requests that they answer. */
const counts = new WeakMap<object, Count>()

/** Bytes of a response so far that is sent in parts; undefined for others. */
export const partsBytes = (request: FastifyRequest): number | undefined =>
  counts.get(request)?.bytes

/** Counts the bytes of responses in parts. Add it before the hook that compresses them. */
export function countParts(app: FastifyInstance): void {
  app.addHook('onSend', (request, _reply, payload, done) => {
    const count = payload instanceof Readable ? counts.get(payload) : undefined
    if (count) counts.set(request, count)
    done(null, payload)
  })
}

/** A stream of parts, between which other requests get their turn. */
export function streamOfParts(parts: AsyncIterable<string>): Readable {
  const count = { bytes: 0 }
  async function* written() {
    for await (const text of parts) {
      const bytes = Buffer.from(text)
      count.bytes += bytes.length
      yield bytes
      await nextTurn()
    }
  }
  const stream = Readable.from(written())
  counts.set(stream, count)
  return stream
}

/**
 * Sends a response in parts, each when the client has read enough of those before. An error before
 * the first part is an error response; a later one breaks the connection, so that no client takes a
 * part for the whole.
 */
export async function sendParts(
  reply: FastifyReply,
  parts: AsyncGenerator<string>,
): Promise<FastifyReply> {
  const first = await parts.next()
  async function* all() {
    if (!first.done) yield first.value
    yield* parts
  }
  return reply.send(streamOfParts(all()))
}

const PART_CHARACTERS = 64 * 1024

/** Sends a text that may be long in parts. */
export async function sendText(reply: FastifyReply, text: string): Promise<FastifyReply> {
  return text.length <= PART_CHARACTERS ? reply.send(text) : sendParts(reply, partsOf(text))
}

async function* partsOf(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length;) {
    const end = at + PART_CHARACTERS
    // A character of two code units is not divided.
    const next = /[\uD800-\uDBFF]/.test(text[end - 1] ?? '') ? end + 1 : end
    yield text.slice(at, next)
    at = next
  }
}
