import { Readable } from 'node:stream'
import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { callerOf, requireFreshSession, type Door } from '../http/auth.ts'
import { answers, Done, failures } from '../http/schema.ts'
import type { App } from '../http/server.ts'
import { readOwned } from '../store/owned.ts'
import type { DB } from '../store/tables.ts'
import { removeAccount } from './accounts.ts'
import { requireOwnPassword } from './own-password.ts'
import type { PasswordThrottle } from './password-throttle.ts'
import { OwnPassword } from './shapes.ts'

type OwnDataDeps = { db: Kysely<DB>; door: Door; throttle: PasswordThrottle }

/** What people may do with all that is kept of them: take it along, and erase it. A token alone can do neither. */
export function ownDataRoutes(app: App, { db, door, throttle }: OwnDataDeps): void {
  const common = { tags: ['Accounts'], security: [{ session: [] }] }
  app.get(
    '/api/v1/account/export',
    {
      onRequest: [door.session, requireFreshSession],
      schema: {
        summary: 'Everything of mine',
        ...common,
        description:
          'One JSON object a line, `{"table": …, "row": {…}}`, as of one moment: all that would go with the account. ' +
          'Passwords, tokens and other secrets are left out, because only their hashes or sealed texts are kept.',
        produces: ['application/x-ndjson'],
        response: failures,
      },
    },
    async (request, reply) => {
      const { accountId } = callerOf(request)
      reply.header('content-disposition', 'attachment; filename="portreeve-account.ndjson"')
      return reply.type('application/x-ndjson').send(Readable.from(linesOf(db, accountId)))
    },
  )
  app.post(
    '/api/v1/account/erase',
    {
      onRequest: door.session,
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

async function* linesOf(db: Kysely<DB>, accountId: string): AsyncGenerator<string> {
  for await (const owned of readOwned(db, accountId)) yield `${JSON.stringify(owned)}\n`
}
