import type { Kysely } from 'kysely'
import type { FastifyRequest } from 'fastify'
import { Fault } from '../../errors.ts'
import { isProgram, type Identify, type SignInMethod } from '../../http/auth.ts'
import type { DB } from '../../store/tables.ts'
import { HOUR_MS } from '../../time.ts'
import type { AccountNotices, Origin } from '../mail/notices.ts'
import { deleteSession, findAccountByEmail } from '../accounts.sql.ts'
import type { Auth } from './better-auth-loader.ts'
import { fetchHeaders } from './fetch-request.ts'
import type { TrustedClients } from './trusted-clients.ts'

export type OpenSessionDeps = {
  db: Kysely<DB>
  auth: Auth
  identify: Identify
  trustedClients: TrustedClients
  notices: AccountNotices
}

/** Sign-ins to an account this young are its owner's own. */
const NEW_ACCOUNT_MS = HOUR_MS

/**
 * Opens a session after the identity was proven without a password. A session of the same account
 * in this browser is replaced, so that proving it again makes the sign-in recent.
 * @returns the cookies to set
 * @throws Fault `forbidden` when the account is disabled or gone
 */
export async function openSession(
  deps: OpenSessionDeps,
  request: FastifyRequest,
  account: { id: string; email: string },
  method: SignInMethod,
): Promise<string[]> {
  const { auth, db, identify } = deps
  const current = await identify({ cookie: request.headers.cookie })
  const { startSession } = await auth.api()
  const { headers, response } = await startSession({
    body: { accountId: account.id, method },
    headers: fetchHeaders(request),
    returnHeaders: true,
  })
  if (!response.token) throw new Fault('forbidden', 'This account no longer exists.')
  if (current?.accountId === account.id && current.sessionId !== null)
    await deleteSession(db, current.sessionId)
  return [...headers.getSetCookie(), await completeSignIn(deps, request, account.email)]
}

/**
 * Remembers the client of a completed sign-in, and announces it where it is new.
 * @returns the cookie to set
 */
export async function completeSignIn(
  { db, trustedClients, notices }: Pick<OpenSessionDeps, 'db' | 'trustedClients' | 'notices'>,
  request: FastifyRequest,
  email: string,
): Promise<string> {
  const known = await trustedClients.recognise(request, email)
  const isKnown = known === 'browser' || (known === 'network' && isProgram(request.headers))
  const account = isKnown ? undefined : await findAccountByEmail(db, email)
  if (account && Date.now() - account.createdAt.getTime() > NEW_ACCOUNT_MS)
    notices.send('newDevice', account, originOf(request))
  return trustedClients.remember(request, email)
}

export function originOf({ ip, headers }: FastifyRequest): Origin {
  return { ip, userAgent: headers['user-agent'] }
}
