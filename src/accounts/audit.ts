import type { FastifyRequest, onSendAsyncHookHandler, preHandlerAsyncHookHandler } from 'fastify'
import { callerOf } from '../http/auth.ts'
import { responses, paginationOf, sliceOf, Success } from '../http/schema.ts'
import type { App } from '../http/server.ts'
import type { Logger } from '../log.ts'
import { ADMINISTRATORS, notifyChange } from '../store/changes.ts'
import type { Db } from '../store/database.ts'
import { AuditPage, AuditQuery } from './shapes.ts'
import { countAuditEntries, findEmail, insertAuditEntry, listAuditEntries } from './store.ts'

export type AuditDeps = { db: Db; log: Logger }

const READ_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Characters of one value in an entry. Longer values are truncated: an entry records the action,
 * not uploaded lists.
 */
const MAX_DETAIL_CHARS = 500

const SECRET_FIELDS = new Set(['password', 'token', 'secret'])

/**
 * Records every change made through a route that is registered in this scope afterwards.
 * @param scope the scope of administrators
 */
export function auditAdministrators(scope: App, { db, log }: AuditDeps): void {
  // Read before the request runs: afterwards the account may be deleted, and its id alone says
  // little.
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
    // The action is done: a failure to record it must not look like a failure of the action.
    await insertAuditEntry(db, entry).catch((err: unknown) =>
      log.error({ err, ...entry }, 'an administrator action could not be recorded'),
    )
    await notifyChange(db, ADMINISTRATORS, 'administration').catch((err: unknown) =>
      log.warn({ err }),
    )
    return payload
  }
  scope.addHook('onRoute', (route) => {
    if ([route.method].flat().every((method) => READ_METHODS.has(method))) return
    route.onSend = [...[route.onSend ?? []].flat(), write]
    if (route.url === '/api/v1/accounts/:id')
      route.preHandler = [...[route.preHandler ?? []].flat(), name]
  })
}

export function auditRoute(app: App, { db }: Pick<AuditDeps, 'db'>): void {
  app.get(
    '/api/v1/audit',
    {
      config: { limit: ({ query }) => ((query as { q?: string }).q ? 'searches' : null) },
      schema: {
        summary: 'List audit log entries',
        tags: ['Accounts'],
        description:
          'Requires an administrator. Lists administrator actions of the last 400 days, newest first.',
        querystring: AuditQuery,
        response: responses(Success(AuditPage)),
      },
    },
    async ({ query: { q, ...page } }) => {
      const [entries, total] = await Promise.all([
        listAuditEntries(db, q, sliceOf(page)),
        countAuditEntries(db, q),
      ])
      return { success: true, data: { entries, pagination: paginationOf(page, total) } }
    },
  )
}

function detailsOf({ params, body }: { params: unknown; body: unknown }): Record<string, unknown> {
  const given = Object.entries({ ...(params as object), ...(isPlain(body) && body) })
  return Object.fromEntries(
    given
      .filter(([name]) => !SECRET_FIELDS.has(name))
      .map(([name, value]) => [name, truncated(value)]),
  )
}

function isPlain(body: unknown): body is object {
  return typeof body === 'object' && body !== null && !Array.isArray(body)
}

function truncated(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text !== undefined && text.length > MAX_DETAIL_CHARS
    ? `${text.slice(0, MAX_DETAIL_CHARS)}…`
    : value
}
