import { Type } from 'typebox'
import { failures } from '../../http/http-schema.ts'
import { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../../errors.ts'
import { acceptsGzip } from '../../http/accepts-gzip.ts'
import type { App } from '../../http/http-server.ts'
import type { AttackList } from '../attack-list.ts'
import { requireService } from '../services.ts'
import { CloudflareItems, Difference, ExportedList, ExportQuery } from '../shapes.ts'
import { isKnown } from './etag.ts'
import { FORMATS } from './export-formats.ts'
import type { Packed } from './pack.ts'

export function exportRoute(app: App, { exports }: Pick<AttackList, 'exports'>): void {
  app.get(
    '/api/v1/abuse/export',
    {
      config: { limit: 'list exports' },
      schema: {
        operationId: 'exportAbuseList',
        summary:
          'Download the blocklist, as plain text or as a file for a firewall, web server or name server',
        description:
          'Send the `ETag` as `If-None-Match` to receive 304 while nothing has changed. `X-List-Version` and `X-List-Count` are ' +
          'the version and size of the list. IPv6 is listed by /64.',
        querystring: ExportQuery,
        response: {
          200: {
            content: {
              'text/plain': { schema: Type.String() },
              'text/csv': { schema: Type.String() },
              'application/json': {
                schema: Type.Union([ExportedList, Difference, CloudflareItems]),
              },
            },
          },
          304: { type: 'null', description: 'Not changed.' },
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const { service: name, format = 'plain', since } = request.query
      const service = name === undefined ? null : requireService(name).id
      // Revalidated with every request, so that a change shows at once. Most responses are a 304.
      reply.header('cache-control', 'public, no-cache').header('vary', 'accept-encoding')
      if (since !== undefined) {
        if (service !== null)
          throw new Fault('invalid_request', 'since applies to the whole list. Remove service.')
        return reply
          .type('application/json')
          .send(JSON.stringify({ success: true, data: await exports.since(since) }))
      }
      const { version, count } = exports.current()
      reply.header('x-list-version', String(version))
      if (service === null) reply.header('x-list-count', String(count))
      return sendFile(
        request,
        reply.type(FORMATS[format].contentType),
        await exports.file(format, service),
      )
    },
  )
}

/**
 * Sends the stored compressed bytes to clients that accept them, and decompresses them for others.
 */
export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { etag, size, gzip }: Packed,
): FastifyReply {
  const compressed = acceptsGzip(request.headers)
  reply.header('etag', `"${etag}${compressed ? '-gzip' : ''}"`)
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send()
  if (compressed) return reply.header('content-encoding', 'gzip').send(gzip)
  return reply
    .header('content-length', String(size))
    .send(Readable.from([gzip]).pipe(createGunzip()))
}
