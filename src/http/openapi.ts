import { fastifySwagger } from '@fastify/swagger'
import { fastifySwaggerUi } from '@fastify/swagger-ui'
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
