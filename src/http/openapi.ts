import { fastifySwagger } from '@fastify/swagger'
import { fastifySwaggerUi } from '@fastify/swagger-ui'
import { Type } from 'typebox'
import { completeDocument, type Paths } from './openapi-document.ts'
import type { App } from './server.ts'

const DESCRIPTION = `Checks, account data, and more, for people who run mail and servers.

Every answer has \`success\`. A failure is \`{"success": false, "error": "<a sentence>", "code": "<a stable word>"}\`,
with \`details\` that name each wrong field. Make an API token in the dashboard or with \`portreeve token create\`
and send it as \`Authorization: Bearer prv_…\`.`

/** In the order of the documentation page. */
const TAGS = {
  Checks: 'DNS, TLS, blacklists and mail authentication of a name or address, checked now.',
  'DMARC reports': 'Domains, the reports on them, and the mailboxes they are read from.',
  Monitoring: 'Hosts that are checked regularly.',
  Delisting: 'Getting an address off blacklists.',
  Alerts: 'What was reported to the account, and the channels it is sent to.',
  Migration: 'Copying mailboxes from one IMAP server to another.',
  'Attack reporting': 'Reports of attackers, and the blocklist that comes of them.',
  Webhooks: 'Addresses that capture requests.',
  Tokens: 'API tokens.',
  Accounts: 'Accounts, and what belongs to one.',
  'Sign-in': 'Sessions and passwords.',
  Service: 'The service itself.',
}

/** Swagger UI sets styles on its elements; scripts and requests stay on our own origin. */
const DOCS_CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

type Described = {
  version: string
  /** Operations that the router never sees. */
  paths?: Paths | undefined
}

/** OpenAPI 3.1 of every route at `/openapi.json`, readable and usable at `/docs`. Call before routes are added. */
export async function describeApi(app: App, { version, paths }: Described): Promise<void> {
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
      servers: [{ url: '/' }],
      tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer', description: 'An API token, `prv_…`.' },
          session: { type: 'apiKey', in: 'cookie', name: 'portreeve.session_token' },
        },
      },
    },
    transformObject(document) {
      if (!('openapiObject' in document)) return document.swaggerObject
      completeDocument(document.openapiObject as Parameters<typeof completeDocument>[0], paths)
      return document.openapiObject
    },
  })
  await app.register(fastifySwaggerUi, {
    routePrefix: '/docs',
    staticCSP: DOCS_CONTENT_SECURITY_POLICY,
    theme: { title: 'Portreeve API' },
    uiConfig: {
      layout: 'BaseLayout',
      persistAuthorization: false,
      docExpansion: 'list',
      tryItOutEnabled: true,
      displayRequestDuration: true,
    },
  })
  const schema = {
    summary: 'This description of the API',
    operationId: 'getOpenApi',
    tags: ['Service'],
    response: {
      200: {
        content: {
          'application/json': { schema: Type.Record(Type.String(), Type.Unknown(), { title: 'OpenApiDocument' }) },
        },
      },
    },
  }
  app.get('/openapi.json', { schema }, async () => app.swagger() as object as Record<string, unknown>)
}
