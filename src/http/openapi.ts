import { fastifySwagger } from '@fastify/swagger'
import { fastifySwaggerUi } from '@fastify/swagger-ui'
import { Failure } from './schema.ts'
import type { App } from './server.ts'

const DESCRIPTION = `Checks, account data, and more, for people who run mail and servers.

Every answer has \`success\`. A failure is \`{"success": false, "error": "<a sentence>", "code": "<a stable word>"}\`,
with \`details\` that name each wrong field. Make an API token in the dashboard or with \`portreeve token create\`
and send it as \`Authorization: Bearer prv_…\`.`

/** The order of the documentation page. */
const TAGS = [
  'Checks',
  'DMARC reports',
  'Monitoring',
  'Delisting',
  'Alerts',
  'Migration',
  'Attack reporting',
  'Webhooks',
  'Tokens',
  'Accounts',
  'Sign-in',
  'Service',
]

/** Swagger UI sets styles on its elements; scripts and requests stay on our own origin. */
const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; " +
  "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/** OpenAPI 3.1 of every route at `/openapi.json`, readable and usable at `/docs`. Call before routes are added. */
export async function describeApi(app: App, { version }: { version: string }): Promise<void> {
  await app.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Portreeve', version, description: DESCRIPTION, license: { name: 'MIT', identifier: 'MIT' } },
      servers: [{ url: '/' }],
      tags: TAGS.map((name) => ({ name })),
      components: {
        securitySchemes: {
          token: { type: 'http', scheme: 'bearer', description: 'An API token, `prv_…`.' },
          session: { type: 'apiKey', in: 'cookie', name: 'portreeve.session_token' },
        },
      },
    },
    transformObject(document) {
      if (!('openapiObject' in document)) return document.swaggerObject
      shareFailure(document.openapiObject)
      return document.openapiObject
    },
  })
  await app.register(fastifySwaggerUi, {
    routePrefix: '/docs',
    staticCSP: DOCS_POLICY,
    theme: { title: 'Portreeve API' },
    uiConfig: {
      layout: 'BaseLayout',
      persistAuthorization: false,
      docExpansion: 'list',
      tryItOutEnabled: true,
      displayRequestDuration: true,
    },
  })
  app.get('/openapi.json', { schema: { hide: true } }, async () => app.swagger())
}

type Operation = { responses?: Record<string, { description?: string; $ref?: string }> }

/** Every route answers a failure alike: said once, the document is a third smaller. */
function shareFailure(document: { paths?: object; components?: { responses?: object } }): void {
  const operations = Object.values(document.paths ?? {}).flatMap((path) => Object.values(path as object) as Operation[])
  const { description: said } = Failure as { description?: string }
  let failure: object | undefined
  for (const { responses = {} } of operations) {
    for (const [status, response] of Object.entries(responses)) {
      if (response.description !== said) continue
      failure = response
      responses[status] = { $ref: '#/components/responses/Failure' }
    }
  }
  if (failure) document.components = { ...document.components, responses: { Failure: failure } }
}
