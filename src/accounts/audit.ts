import type { onSendAsyncHookHandler } from 'fastify'
import { callerOf, type Door } from '../http/auth.ts'
import { answers, PageQuery, paginationOf, security, sliceOf, Success } from '../http/schema.ts'
import type { App } from '../http/server.ts'
import type { Logger } from '../log.ts'
import type { Db } from '../store/database.ts'
import { AuditPage } from './shapes.ts'
import { countAuditEntries, insertAuditEntry, listAuditEntries } from './store.ts'

export type AuditDeps = { db: Db; door: Door; log: Logger }

const READING = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Longer texts of a request are cut: who did what must be seen, not every list that was uploaded. */
const LONGEST = 500

const SECRETS = new Set(['password', 'token', 'secret'])

/** Writes down what administrators do on every route that is for them alone, of every room. Call it before those are registered. */
export function auditAdministrators(app: App, { db, door, log }: AuditDeps): void {
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
      details: detailsOf(request),
    }
    // It is done by now: that it could not be written down must not look as if it had failed.
    await insertAuditEntry(db, entry).catch((err: unknown) =>
      log.error({ err, ...entry }, 'an act was not written down'),
    )
    return payload
  }
  app.addHook('onRoute', (route) => {
    const isTheirs = [route.preHandler ?? []].flat().includes(door.admin)
    const changes = [route.method].flat().some((method) => !READING.has(method))
    if (isTheirs && changes) route.onSend = [...[route.onSend ?? []].flat(), write]
  })
}

export function auditRoute(app: App, { db, door }: AuditDeps): void {
  app.get(
    '/api/v1/audit',
    {
      preHandler: door.admin,
      schema: {
        summary: 'What administrators did, newest first',
        tags: ['Accounts'],
        description: 'For administrators. Kept for 400 days.',
        security,
        querystring: PageQuery,
        response: answers(Success(AuditPage)),
      },
    },
    async ({ query }) => {
      const [entries, total] = await Promise.all([listAuditEntries(db, sliceOf(query)), countAuditEntries(db)])
      return { success: true, data: { entries, pagination: paginationOf(query, total) } }
    },
  )
}

function detailsOf({ params, body }: { params: unknown; body: unknown }): Record<string, unknown> {
  const given = Object.entries({ ...(params as object), ...(isPlain(body) && body) })
  return Object.fromEntries(given.filter(([name]) => !SECRETS.has(name)).map(([name, value]) => [name, short(value)]))
}

function isPlain(body: unknown): body is object {
  return typeof body === 'object' && body !== null && !Array.isArray(body)
}

function short(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text !== undefined && text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : value
}
