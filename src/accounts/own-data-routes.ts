import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { callerOf, requireFreshSession, type AuthHooks } from '../http/auth.ts'
import { answers, answersAs, Done, nameComponents } from '../http/schema.ts'
import type { App } from '../http/server.ts'
import { readOwned } from '../store/owned.ts'
import type { DB } from '../store/tables.ts'
import { removeAccount } from './accounts.ts'
import type { ExportFiles } from './export-files.ts'
import { requireOwnPassword } from './reauthentication.ts'
import type { PasswordThrottle } from './password-throttle.ts'
import { OwnPassword } from './shapes.ts'

const OwnedRow = Type.Object({ table: Type.String(), row: Type.Record(Type.String(), Type.Unknown()) })
nameComponents({ OwnedRow })

type OwnDataDeps = { db: Kysely<DB>; authHooks: AuthHooks; throttle: PasswordThrottle; exports: ExportFiles }

/** What people may do with all that is kept of them: take it along, and erase it. A token alone can do neither. */
export function ownDataRoutes(app: App, { db, authHooks, throttle, exports }: OwnDataDeps): void {
  const common = { tags: ['Accounts'], security: [{ session: [] }] }
  app.get(
    '/api/v1/account/export',
    {
      config: { limit: 'account exports' },
      onRequest: [authHooks.session, requireFreshSession],
      schema: {
        summary: 'Everything of mine',
        ...common,
        description:
          'One JSON object a line, `{"table": …, "row": {…}}`, as of the moment of the request: all that would go with the account. ' +
          'Passwords, tokens and other secrets are left out, because only their hashes or sealed texts are kept. ' +
          'One export of an account at a time, and up to 6 an hour.',
        produces: ['application/x-ndjson'],
        response: answersAs('application/x-ndjson', OwnedRow, 'One line of it'),
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
      onRequest: authHooks.session,
      schema: {
        summary: 'Erase my account and everything of mine, at once and for good',
        ...common,
        body: Type.Object({ password: OwnPassword }),
        response: answers(Done),
      },
    },
    async (request) => {
      const { accountId } = callerOf(request)
      // The password that stands in the request is as fresh as can be.
      await requireOwnPassword({ db, throttle }, accountId, request.body.password)
      await removeAccount(db, accountId)
      return { success: true as const }
    },
  )
}
