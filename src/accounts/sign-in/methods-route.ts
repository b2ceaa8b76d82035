import type { Kysely } from 'kysely'
import { callerOf, requireSession } from '../../http/auth.ts'
import { responses, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { DB } from '../../store/tables.ts'
import { hasIdentity } from '../oidc/oidc-identities.sql.ts'
import { listPasskeys } from '../passkeys/passkeys.sql.ts'
import { SignInMethods } from '../shapes.ts'
import { findPasswordHash } from '../accounts.sql.ts'
import { hasAuthenticator } from '../two-factor/two-factor.sql.ts'

export type MethodsRouteDeps = { db: Kysely<DB>; provider: { id: string } | null }

/** How the account can be signed in to. */
export function methodsRoute(app: App, { db, provider }: MethodsRouteDeps): void {
  app.get(
    '/api/v1/account/sign-in-methods',
    {
      config: { withoutSecondFactor: true },
      onRequest: requireSession,
      schema: {
        summary: 'Get the sign-in methods of the account',
        security: [{ session: [] }],
        response: responses(Success(SignInMethods)),
      },
    },
    async (request) => {
      const { accountId } = callerOf(request)
      const [passwordHash, authenticator, passkeys, oidc] = await Promise.all([
        findPasswordHash(db, accountId),
        hasAuthenticator(db, accountId),
        listPasskeys(db, accountId),
        provider && hasIdentity(db, accountId, provider.id),
      ])
      const data = {
        password: passwordHash !== undefined,
        authenticator,
        passkeys: passkeys.length,
        oidc,
      }
      return { success: true as const, data }
    },
  )
}
