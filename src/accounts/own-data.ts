import type { Kysely } from 'kysely'
import { APIError } from 'better-auth/api'
import { Type } from 'typebox'
import { Fault } from '../errors.ts'
import { callerOf, type Door } from '../http/auth.ts'
import { answers, Done, failures } from '../http/schema.ts'
import type { App } from '../http/server.ts'
import { readOwned } from '../store/owned.ts'
import type { DB } from '../store/tables.ts'
import { removeAccount } from './accounts.ts'
import type { Auth } from './auth.ts'
import type { ExportFiles } from './export-file.ts'

type OwnDataDeps = { db: Kysely<DB>; door: Door; auth: Auth; exports: ExportFiles }

/** What people may do with all that is kept of them: take it along, and erase it. A token alone can do neither. */
export function ownDataRoutes(app: App, { db, door, auth, exports }: OwnDataDeps): void {
  const common = { tags: ['Accounts'], security: [{ session: [] }] }
  app.get(
    '/api/v1/account/export',
    {
      config: { limit: 'account exports' },
      onRequest: door.session,
      schema: {
        summary: 'Everything of mine',
        ...common,
        description:
          'One JSON object a line, `{"table": …, "row": {…}}`, as of the moment of the request: all that would go with the account. ' +
          'Passwords, tokens and other secrets are left out, because only their hashes or sealed texts are kept. ' +
          'One export of an account at a time, and up to 6 an hour.',
        produces: ['application/x-ndjson'],
        response: failures,
      },
    },
    async (request, reply) => {
      const { accountId } = callerOf(request)
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      const lines = await exports.spool((signal) => readOwned(db, accountId, signal), gone.signal)
      reply.header('content-disposition', 'attachment; filename="portreeve-account.ndjson"')
      return reply.type('application/x-ndjson').send(lines)
    },
  )
  app.post(
    '/api/v1/account/erase',
    {
      onRequest: door.session,
      schema: {
        summary: 'Erase my account and everything of mine, at once and for good',
        ...common,
        body: Type.Object({ password: Type.String({ maxLength: 128 }) }),
        response: answers(Done),
      },
    },
    async (request) => {
      const { accountId, email } = callerOf(request)
      await requirePassword(auth, email, request.body.password)
      await removeAccount(db, accountId)
      return { success: true as const }
    },
  )
}

/** @throws Fault `forbidden` */
async function requirePassword(auth: Auth, email: string, password: string): Promise<void> {
  try {
    await auth.api.signInEmail({ body: { email, password, rememberMe: false } })
  } catch (error) {
    if (!(error instanceof APIError)) throw error
    throw new Fault('forbidden', 'This is not your password.')
  }
}
