import { Readable } from 'node:stream'
import type { Kysely } from 'kysely'
import { APIError } from 'better-auth/api'
import { Type } from 'typebox'
import { Fault } from '../errors.ts'
import { callerOf, type Door } from '../http/auth.ts'
import { answers, answersAs, Done, nameComponents } from '../http/schema.ts'
import type { App } from '../http/server.ts'
import { readOwned } from '../store/owned.ts'
import type { DB } from '../store/tables.ts'
import { removeAccount } from './accounts.ts'
import type { Auth } from './auth.ts'

const OwnedRow = Type.Object({ table: Type.String(), row: Type.Record(Type.String(), Type.Unknown()) })
nameComponents({ OwnedRow })

type OwnDataDeps = { db: Kysely<DB>; door: Door; auth: Auth }

/** What people may do with all that is kept of them: take it along, and erase it. A token alone can do neither. */
export function ownDataRoutes(app: App, { db, door, auth }: OwnDataDeps): void {
  const common = { tags: ['Accounts'], security: [{ session: [] }] }
  app.get(
    '/api/v1/account/export',
    {
      onRequest: door.session,
      schema: {
        summary: 'Everything of mine',
        ...common,
        description:
          'One JSON object a line, `{"table": …, "row": {…}}`, as of one moment: all that would go with the account. ' +
          'Passwords, tokens and other secrets are left out, because only their hashes or sealed texts are kept.',
        produces: ['application/x-ndjson'],
        response: answersAs('application/x-ndjson', OwnedRow, 'One line of it'),
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

async function* linesOf(db: Kysely<DB>, accountId: string): AsyncGenerator<string> {
  for await (const owned of readOwned(db, accountId)) yield `${JSON.stringify(owned)}\n`
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
