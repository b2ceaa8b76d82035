import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

const sentBytes = new WeakMap<FastifyRequest, number>()

/** Bytes of a response so far that is sent in parts; undefined for others. */
export const partsBytes = (request: FastifyRequest): number | undefined => sentBytes.get(request)

/**
 * Sends a response in parts, each when the client has read enough of those before. An error before
 * the first part is an error response; a later one breaks the connection, so that no client takes a
 * part for the whole.
 */
export async function sendParts(
  reply: FastifyReply,
  parts: AsyncGenerator<string>,
): Promise<FastifyReply> {
  const { request } = reply
  const first = await parts.next()
  sentBytes.set(request, 0)
  const count = (text: string) => {
    const bytes = Buffer.from(text)
    sentBytes.set(request, (sentBytes.get(request) ?? 0) + bytes.length)
    return bytes
  }
  async function* all() {
    if (!first.done) yield count(first.value)
    for await (const text of parts) yield count(text)
  }
  return reply.send(Readable.from(all()))
}
