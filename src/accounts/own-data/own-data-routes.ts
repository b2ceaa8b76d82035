import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import {
  callerOf,
  rejectStaleSession,
  requireFreshSession,
  requireSession,
} from '../../http/auth.ts'
import { responses, responsesAs, Done, nameComponents } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { readOwned, type OwnedBy } from '../../store/owned.ts'
import type { DB } from '../../store/tables.ts'
import { removeAccount } from '../accounts.ts'
import type { ExportFiles } from './export-files.ts'
import { requireOwnPassword } from '../sign-in/reauthentication.ts'
import type { PasswordThrottle } from '../sign-in/password-throttle.ts'
import { OwnPassword } from '../shapes.ts'
import { findPasswordHash } from '../accounts.sql.ts'
import { listSoleWorkspaces } from '../workspaces/workspaces.sql.ts'

export const OwnedRow = Type.Object({
  table: Type.String(),
  row: Type.Record(Type.String(), Type.Unknown()),
})
nameComponents({ OwnedRow })

export type OwnDataDeps = {
  db: Kysely<DB>
  throttle: PasswordThrottle
  exports: ExportFiles
}

/** Sends all rows of an account or of workspaces, as a file with one JSON object per line. */
export async function sendExport(
  { db, exports }: Pick<OwnDataDeps, 'db' | 'exports'>,
  reply: FastifyReply,
  owner: OwnedBy,
  filename: string,
): Promise<FastifyReply> {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  const lines = await exports.spool((signal) => readOwned(db, owner, signal), gone.signal)
  reply.header('content-disposition', `attachment; filename="${filename}"`)
  return reply.type('application/x-ndjson').send(lines)
}

/**
 * Export and deletion of all data of an account. Both require a session; an API token is rejected.
 */
export function ownDataRoutes(app: App, { db, throttle, exports }: OwnDataDeps): void {
  const common = { security: [{ session: [] }] }
  app.get(
    '/api/v1/account/export',
    {
      config: { limit: 'account exports' },
      onRequest: requireFreshSession,
      schema: {
        summary: 'Export all data of the account',
        ...common,
        description:
          'One JSON object per line, `{"table": …, "row": {…}}`, as of the time of the request: every row that is deleted with the account. ' +
          'Passwords, tokens and other secrets are left out, because only their hashes or encrypted values are stored. ' +
          'An account can run one export at a time, and up to 6 an hour.',
        produces: ['application/x-ndjson'],
        response: responsesAs('application/x-ndjson', OwnedRow, 'One line'),
      },
    },
    async (request, reply) => {
      const { accountId } = callerOf(request)
      const owner = { accountId, workspaceIds: await listSoleWorkspaces(db, accountId) }
      return sendExport({ db, exports }, reply, owner, 'portreeve-account.ndjson')
    },
  )
  app.post(
    '/api/v1/account/erase',
    {
      onRequest: requireSession,
      schema: {
        summary: 'Delete the own account',
        ...common,
        description:
          'Deletes the account and all its data permanently. Requires the password; for an account without one, a recent sign-in.',
        body: Type.Object({ password: Type.Optional(OwnPassword) }),
        response: responses(Done),
      },
    },
    async (request) => {
      const { accountId } = callerOf(request)
      // The password in the request replaces the check for a recent sign-in.
      if ((await findPasswordHash(db, accountId)) === undefined) requireRecentSignIn(request)
      else await requireOwnPassword({ db, throttle }, accountId, request.body.password ?? '')
      await removeAccount(db, accountId)
      return { success: true as const }
    },
  )
}

function requireRecentSignIn(request: FastifyRequest): void {
  const stale = rejectStaleSession(callerOf(request))
  if (stale) throw stale
}
