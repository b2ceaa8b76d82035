import type { FastifyRequest, onSendAsyncHookHandler, preHandlerAsyncHookHandler } from 'fastify'
import { callerOf, type AuthHooks } from '../http/auth.ts'
import { answers, paginationOf, security, sliceOf, Success } from '../http/schema.ts'
import type { App } from '../http/server.ts'
import type { Logger } from '../log.ts'
import { ADMINISTRATORS, notifyChange } from '../store/changes.ts'
import type { Db } from '../store/database.ts'
import { AuditPage, AuditQuery } from './shapes.ts'
import { countAuditEntries, findEmail, insertAuditEntry, listAuditEntries } from './store.ts'

export type AuditDeps = { db: Db; authHooks: AuthHooks; log: Logger }

const READ_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Longer texts of a request are cut: who did what must be seen, not every list that was uploaded. */
const MAX_DETAIL_CHARS = 500

const SECRET_FIELDS = new Set(['password', 'token', 'secret'])

/** Writes down what administrators do on every route that is for them alone, of every room. Call it before those are registered. */
export function auditAdministrators(app: App, { db, authHooks, log }: AuditDeps): void {
  // Afterwards it may be gone, and an id tells nobody who it was.
  const names = new WeakMap<FastifyRequest, { account: string }>()
  const name: preHandlerAsyncHookHandler = async (request) => {
    const account = await findEmail(db, (request.params as { id: string }).id)
    if (account !== undefined) names.set(request, { account })
  }
  const write: onSendAsyncHookHandler = async (request, reply, payload) => {
    if (reply.statusCode >= 400) return payload
    const { accountId: actorId, email: actorEmail } = callerOf(request)
    const {
      method,
      schema,
      url = '',
    } = request.routeOptions as { method: string; schema?: { summary?: string }; url?: string }
    const entry = {
      actorId,
      actorEmail,
      what: schema?.summary ?? '',
      route: `${method} ${url}`,
      details: { ...names.get(request), ...detailsOf(request) },
    }
    // It is done by now: that it could not be written down must not look as if it had failed.
    await insertAuditEntry(db, entry).catch((err: unknown) =>
      log.error({ err, ...entry }, 'an act was not written down'),
    )
    await notifyChange(db, ADMINISTRATORS, 'administration').catch((err: unknown) => log.warn({ err }))
    return payload
  }
  app.addHook('onRoute', (route) => {
    const isTheirs = [route.onRequest ?? []].flat().includes(authHooks.admin)
    const changes = [route.method].flat().some((method) => !READ_METHODS.has(method))
    if (!isTheirs || !changes) return
    route.onSend = [...[route.onSend ?? []].flat(), write]
    if (route.url === '/api/v1/accounts/:id') route.preHandler = [...[route.preHandler ?? []].flat(), name]
  })
}

export function auditRoute(app: App, { db, authHooks }: AuditDeps): void {
  app.get(
    '/api/v1/audit',
    {
      config: { limit: ({ query }) => ((query as { q?: string }).q ? 'searches' : null) },
      onRequest: authHooks.admin,
      schema: {
        summary: 'What administrators did, newest first',
        tags: ['Accounts'],
        description: 'For administrators. Kept for 400 days.',
        security,
        querystring: AuditQuery,
        response: answers(Success(AuditPage)),
      },
    },
    async ({ query: { q, ...page } }) => {
      const [entries, total] = await Promise.all([listAuditEntries(db, q, sliceOf(page)), countAuditEntries(db, q)])
      return { success: true, data: { entries, pagination: paginationOf(page, total) } }
    },
  )
}

function detailsOf({ params, body }: { params: unknown; body: unknown }): Record<string, unknown> {
  const given = Object.entries({ ...(params as object), ...(isPlain(body) && body) })
  return Object.fromEntries(
    given.filter(([name]) => !SECRET_FIELDS.has(name)).map(([name, value]) => [name, truncated(value)]),
  )
}

function isPlain(body: unknown): body is object {
  return typeof body === 'object' && body !== null && !Array.isArray(body)
}

function truncated(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text !== undefined && text.length > MAX_DETAIL_CHARS ? `${text.slice(0, MAX_DETAIL_CHARS)}…` : value
}
