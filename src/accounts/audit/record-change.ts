import type { FastifyRequest, onSendAsyncHookHandler, preHandlerAsyncHookHandler } from 'fastify'
import { accessOf, isSafe } from '../../http/access.ts'
import { callerOf } from '../../http/auth.ts'
import type { App } from '../../http/http-server.ts'
import type { Logger } from '../../log.ts'
import { ADMINISTRATORS, notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import { findEmail } from '../accounts.sql.ts'
import { administratorDetails, memberDetails } from './details.ts'
import type { AuditEntry } from './audit-log.sql.ts'
import type { AuditWriter } from './writer.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Leaves the requests of this route out of the audit log: it changes nothing, or very often. */
    unaudited?: true
  }
}

/** What a handler adds to the entry of its request. */
const ADDED = new WeakMap<FastifyRequest, Record<string, unknown>>()
/** The workspaces that requests changed which are not for one workspace. */
const CHANGED_WORKSPACE = new WeakMap<FastifyRequest, string>()

/** Adds details to the audit entry of a request, such as the name of what it deleted. No secrets. */
export function addAuditDetails(request: FastifyRequest, details: Record<string, unknown>): void {
  ADDED.set(request, { ...ADDED.get(request), ...details })
}

/**
 * Records a request of an account’s own routes (access `own`) in the audit log of a workspace that
 * it changed, such as one that the account joined. Without this call, it is private.
 */
export function auditInWorkspace(request: FastifyRequest, workspaceId: string): void {
  CHANGED_WORKSPACE.set(request, workspaceId)
}

/**
 * Records every change of a workspace made through a route that is registered in this scope
 * afterwards.
 * @param scope the scope of accounts
 */
export function auditWorkspaces(scope: App, writer: AuditWriter): void {
  const write: onSendAsyncHookHandler = async (request, reply, payload) => {
    const { config } = request.routeOptions
    const isOwn = accessOf({ url: request.routeOptions.url ?? '', config }) === 'own'
    const workspaceId =
      CHANGED_WORKSPACE.get(request) ?? (isOwn ? undefined : request.caller?.workspaceId)
    if (reply.statusCode < 400 && workspaceId !== undefined)
      await writer.write(
        entryOf(request, workspaceId, memberDetails(request)),
        request.caller?.responsibleId,
      )
    return payload
  }
  scope.addHook('onRoute', (route) => {
    if (route.config?.unaudited || [route.method].flat().every(isSafe)) return
    route.onSend = [...[route.onSend ?? []].flat(), write]
  })
}

/**
 * Records every change made through a route that is registered in this scope afterwards.
 * @param scope the scope of administrators
 */
export function auditAdministrators(
  scope: App,
  { db, log, auditWriter }: { db: Db; log: Logger; auditWriter: AuditWriter },
): void {
  // Read before the request runs: afterwards the account may be deleted, and its id alone says
  // little.
  const name: preHandlerAsyncHookHandler = async (request) => {
    const account = await findEmail(db, (request.params as { id: string }).id)
    if (account !== undefined) addAuditDetails(request, { account })
  }
  const write: onSendAsyncHookHandler = async (request, reply, payload) => {
    if (reply.statusCode >= 400) return payload
    await auditWriter.write(entryOf(request, null, administratorDetails(request)))
    await notifyChange(db, ADMINISTRATORS, 'administration').catch((err: unknown) =>
      log.warn({ err }),
    )
    return payload
  }
  scope.addHook('onRoute', (route) => {
    if ([route.method].flat().every(isSafe)) return
    route.onSend = [...[route.onSend ?? []].flat(), write]
    if (route.url === '/api/v1/accounts/:id')
      route.preHandler = [...[route.preHandler ?? []].flat(), name]
  })
}

function entryOf(
  request: FastifyRequest,
  workspaceId: string | null,
  details: Record<string, unknown>,
): AuditEntry {
  const { accountId: actorId, email: actorEmail, tokenId, tokenLabel } = callerOf(request)
  const { schema, url = '' } = request.routeOptions as {
    schema?: { summary?: string }
    url?: string
  }
  return {
    workspaceId,
    actorId,
    actorEmail,
    token: tokenId === null ? null : { id: tokenId, label: tokenLabel ?? '' },
    what: schema?.summary ?? '',
    route: `${request.method} ${url}`,
    details: { ...details, ...ADDED.get(request) },
  }
}
