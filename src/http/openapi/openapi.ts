import { gzipSync } from 'node:zlib'
import { fastifySwagger } from '@fastify/swagger'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { acceptsGzip } from '../accepts-gzip.ts'
import { completeDocument, type Paths } from './openapi-document.ts'
import { tagOf, TAGS } from './tags.ts'
import type { App } from '../http-app.ts'

const DESCRIPTION = `The API of Portreeve, a self-hosted toolkit for people who run mail and servers.

Every response has \`success\`. A failure is \`{"success": false, "error": "<message>", "code": "<stable code>"}\`,
with \`details\` for each invalid field. Create an API token in the dashboard or with \`portreeve token create\`
and send it as \`Authorization: Bearer prv_…\`.`

type Described = {
  version: string
  /** The path of BASE_URL; empty at the root. */
  basePath?: string | undefined
  /** Operations that are handled outside the router. */
  paths?: Paths | undefined
}

/** Serves the OpenAPI 3.1 document at `/openapi.json`. Call before routes are added. */
export async function describeApi(
  app: App,
  { version, basePath, paths }: Described,
): Promise<void> {
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Portreeve',
        version,
        description: DESCRIPTION,
        license: { name: 'MIT', identifier: 'MIT' },
        contact: { name: 'Portreeve' },
      },
      servers: [{ url: basePath || '/' }],
      tags: Object.entries(TAGS).map(([name, { description }]) => ({ name, description })),
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer', description: 'An API token, `prv_…`.' },
          session: {
            type: 'apiKey',
            in: 'cookie',
            name: 'portreeve.session_token',
            description:
              'With HTTPS, the name begins with `__Host-`, or with `__Secure-` where BASE_URL has a path.',
          },
        },
      },
    },
    transform({ schema, url }) {
      const tag = tagOf(url)
      return { schema: { ...schema, ...(tag !== undefined && { tags: [tag] }) }, url }
    },
    transformObject(document) {
      if (!('openapiObject' in document)) return document.swaggerObject
      completeDocument(document.openapiObject as Parameters<typeof completeDocument>[0], paths)
      return document.openapiObject
    },
  })
  const schema = {
    summary: 'Get the OpenAPI document',
    operationId: 'getOpenApi',
    response: {
      200: {
        content: {
          'application/json': {
            schema: Type.Record(Type.String(), Type.Unknown(), { title: 'OpenApiDocument' }),
          },
        },
      },
    },
  }
  let encoded: EncodedDocument | undefined
  app.get('/openapi.json', { schema }, async ({ headers }, reply) => {
    encoded ??= encodeDocument(app.swagger())
    return sendDocument(reply, encoded, acceptsGzip(headers))
  })
}

type EncodedDocument = { json: string; gzip: Buffer }

/** Encoded once: the document is large, and final once the service has started. */
function encodeDocument(document: object): EncodedDocument {
  const json = JSON.stringify(document)
  return { json, gzip: gzipSync(json) }
}

function sendDocument(
  reply: FastifyReply,
  { json, gzip }: EncodedDocument,
  isCompressed: boolean,
): FastifyReply {
  reply.type('application/json').header('vary', 'accept-encoding')
  return isCompressed ? reply.header('content-encoding', 'gzip').send(gzip) : reply.send(json)
}
