import { Type } from 'typebox'
import { callerOf } from '../../http/auth.ts'
import { responses, Success, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { notifyChange } from '../../store/changes.ts'
import { requireFound } from '../access-token.ts'
import { shownCredential } from '../shown.ts'
import { AdministratorCheck, AdministratorRequest, MailCredential } from '../shapes.ts'
import { findCredential } from '../mail-credentials.sql.ts'
import {
  addAdministrator,
  checkAdministrator,
  correctAdministrator,
  type AdministratorDeps,
} from './save.ts'

const params = Type.Object({ id: Uuid })

/** Registers the sign-ins of administrators, for all mailboxes of an organization. */
export function administratorRoutes(app: App, deps: AdministratorDeps): void {
  const { db } = deps
  async function show(workspaceId: string, id: string) {
    await notifyChange(db, workspaceId, 'migrations', id)
    return shownCredential(requireFound(await findCredential(db, workspaceId, id)))
  }
  app.post(
    '/api/v1/imap/credentials',
    {
      config: { limit: 'connections' },
      schema: {
        summary: 'Add a sign-in of an administrator for all mailboxes',
        description:
          'The provider is asked at once: about an application always, about a service account with `user`. The key or secret is stored encrypted, never returned, and deleted 30 days after its last use.',
        body: AdministratorRequest,
        response: responses(Success(MailCredential), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId, accountId } = callerOf(request)
      const id = await addAdministrator(deps, { workspaceId, accountId }, request.body)
      return reply.code(201).send({ success: true, data: await show(workspaceId, id) })
    },
  )
  app.put(
    '/api/v1/imap/credentials/:id',
    {
      config: { limit: 'connections' },
      schema: {
        summary: 'Replace the key or secret of an administrator’s sign-in',
        description: 'Continues the migrations that waited for it.',
        params,
        body: AdministratorRequest,
        response: responses(Success(MailCredential)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { id } = request.params
      await correctAdministrator(deps, workspaceId, id, request.body)
      return { success: true, data: await show(workspaceId, id) }
    },
  )
  app.post(
    '/api/v1/imap/credentials/:id/check',
    {
      config: { limit: 'connections' },
      schema: {
        summary: 'Check an administrator’s sign-in at its provider again',
        description:
          'Continues the migrations that waited for it. Rejected sign-ins are checked every 10 minutes anyway.',
        params,
        body: AdministratorCheck,
        response: responses(Success(MailCredential)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { id } = request.params
      await checkAdministrator(deps, workspaceId, id, request.body.user)
      return { success: true, data: await show(workspaceId, id) }
    },
  )
}
