import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { callerOf, requireFreshSession, requireSession } from '../../http/auth.ts'
import { responses, Done } from '../../http/schema.ts'
import type { App } from '../../http/server.ts'
import type { DB } from '../../store/tables.ts'
import { hashPassword, verifyPassword } from './password-hash.ts'
import { subjects, type PasswordThrottle } from './password-throttle.ts'
import { OwnPassword } from '../shapes.ts'
import { findPasswordHash, markAuthenticated } from '../store.ts'

export type OwnPasswordDeps = { db: Kysely<DB>; throttle: PasswordThrottle }

/**
 * Confirms the password in an older session, so that requests that need a recent sign-in succeed.
 */
export function reauthenticationRoutes(app: App, deps: OwnPasswordDeps): void {
  const url = '/api/v1/account/reauthenticate'
  const common = { tags: ['Accounts'], security: [{ session: [] }] }
  app.get(
    url,
    {
      onRequest: requireFreshSession,
      schema: {
        summary: 'Check for a recent sign-in',
        ...common,
        description:
          'Returns 403 with the code `reauthenticate` when the password was entered more than ten minutes ago.',
        response: responses(Done),
      },
    },
    async () => ({ success: true as const }),
  )
  app.post(
    url,
    {
      onRequest: requireSession,
      schema: {
        summary: 'Confirm the password',
        ...common,
        description:
          'Requests that returned 403 with the code `reauthenticate` succeed for the next ten minutes.',
        body: Type.Object({ password: OwnPassword }),
        response: responses(Done),
      },
    },
    async (request) => {
      const { accountId, sessionId } = callerOf(request)
      await requireOwnPassword(deps, accountId, request.body.password)
      if (sessionId !== null) await markAuthenticated(deps.db, sessionId)
      return { success: true as const }
    },
  )
}

/**
 * @throws Fault `forbidden` when the password is wrong, `rate_limited` after too many wrong ones
 */
export async function requireOwnPassword(
  { db, throttle }: OwnPasswordDeps,
  accountId: string,
  password: string,
): Promise<void> {
  const subject = subjects.session(accountId)
  const isRight = await throttle.check(
    subject,
    () => isPasswordOf(db, accountId, password),
    (answer) => (answer ? 'right' : 'wrong'),
  )
  if (isRight) return
  const message = 'is not your password'
  throw new Fault('forbidden', `This ${message}.`, { details: [{ path: 'password', message }] })
}

async function isPasswordOf(db: Kysely<DB>, accountId: string, password: string): Promise<boolean> {
  const hash = await findPasswordHash(db, accountId)
  if (hash !== undefined) return verifyPassword({ hash, password })
  await hashPassword(password)
  return false
}
