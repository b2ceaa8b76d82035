import type { FastifyReply } from 'fastify'
import { callerOf, requireSession } from '../http/auth.ts'
import { Done, responses, Success } from '../http/http-schema.ts'
import type { App } from '../http/http-server.ts'
import type { DigestDeps } from './delivery/digest-email.ts'
import { Digest, DigestPreview, DigestSettings, PreviewQuery } from './shapes.ts'
import { changeDigest, previewDigest, readDigest, sendTestDigest } from './subscription.ts'

/** `/api/v1/digest…`: the digest of the own account in one workspace. */
export function digestRoutes(app: App, deps: DigestDeps): void {
  settingsRoutes(app, deps)
  previewRoute(app, deps)
  testRoute(app, deps)
}

function settingsRoutes(app: App, deps: DigestDeps): void {
  const schema = { response: responses(Success(Digest)) }
  app.get(
    '/api/v1/digest',
    { schema: { ...schema, summary: 'Get the settings of your digest' } },
    async (request) => ({ success: true, data: await readDigest(deps, callerOf(request)) }),
  )
  app.put(
    '/api/v1/digest',
    {
      // It concerns only the caller: a read-only member may have a digest, too.
      config: { role: 'read-only' },
      schema: {
        ...schema,
        summary: 'Change the settings of your digest',
        description:
          'A summary of this workspace by email to the address of your account, every day or every week. Settings that are not given keep their values.',
        body: DigestSettings,
      },
    },
    async (request) => ({
      success: true,
      data: await changeDigest(deps, callerOf(request), request.body, new Date()),
    }),
  )
}

/**
 * Shown in a frame of the dashboard. Nothing in it runs, and its links open new tabs, which are not
 * restricted.
 */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox"

function previewRoute(app: App, deps: DigestDeps): void {
  app.get(
    '/api/v1/digest/preview',
    {
      // A digest shows every module, and a token may be limited to some.
      onRequest: requireSession,
      config: { limit: 'digest previews' },
      schema: {
        summary: 'Preview your digest',
        description: 'The digest of the last day or week, as it would be sent now.',
        security: [{ session: [] }],
        querystring: PreviewQuery,
        produces: ['application/json', 'text/html'],
        response: responses(Success(DigestPreview)),
      },
    },
    async (request, reply) => {
      const { format, ...wanted } = request.query
      const data = await previewDigest(deps, callerOf(request), wanted, new Date())
      return format === 'html' ? sendPage(reply, data.html) : { success: true, data }
    },
  )
}

/** Links open in a new tab, because a frame cannot show the dashboard. */
function sendPage(reply: FastifyReply, html: string): FastifyReply {
  const page = html.replace('<head>', '<head>\n<base target="_blank">')
  reply.headers({ 'content-security-policy': PAGE_POLICY, 'referrer-policy': 'no-referrer' })
  return reply.type('text/html; charset=utf-8').serializer(String).send(page)
}

function testRoute(app: App, deps: DigestDeps): void {
  app.post(
    '/api/v1/digest/test',
    {
      config: { role: 'read-only', limit: 'digest previews', unaudited: true },
      schema: {
        summary: 'Send your digest now',
        description:
          'Sends the digest of the last day or week to the address of your account. The schedule is unchanged.',
        response: responses(Done),
      },
    },
    async (request) => {
      await sendTestDigest(deps, callerOf(request), new Date())
      return { success: true as const }
    },
  )
}
