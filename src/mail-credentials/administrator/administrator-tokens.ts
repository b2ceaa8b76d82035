import type { Kysely } from 'kysely'
import type { GuardedFetch } from '../../net/http/guarded-fetch.ts'
import type { DB } from '../../store/tables.ts'
import { ConsentNeeded, type CredentialDeps, type OnProblem } from '../access-token.ts'
import { OAuthRejected, toFault } from '../oauth-problem.ts'
import { markAdministratorProblem, type CredentialRow } from '../mail-credentials.sql.ts'
import { requireAdministratorProvider } from './administrator-provider.ts'
import { decryptAdministrator, type AdministratorSecret } from './secret.ts'
import { createTokenCache } from './token-cache.ts'
import { requestAdministratorToken, type AdministratorToken } from './token-request.ts'

export type AdministratorTokensDeps = CredentialDeps & {
  db: Kysely<DB>
  guardedFetch: GuardedFetch
  onProblem: OnProblem
}

/** Returns an access token of an administrator’s credential for a mailbox. */
export type ReadAdministratorToken = (
  row: CredentialRow,
  user: string,
  rejected?: string,
) => Promise<string>

/**
 * Gets access tokens with administrators’ credentials. They are kept in the memory of this instance:
 * of a service account for each mailbox, of an application for all of them.
 * @throws (the function) ConsentNeeded, Fault
 */
export function createAdministratorTokens(deps: AdministratorTokensDeps): ReadAdministratorToken {
  const cache = createTokenCache()
  return async (row, user, rejected) => {
    if (row.problem !== null) throw new ConsentNeeded(row, row.problem)
    const secret = decryptAdministrator(row.sealed, deps.secretKey, row.id)
    // A corrected credential gets new tokens.
    const key = [row.sealed, ...(secret.kind === 'service_account' ? [user] : [])].join(' ')
    return cache.get(key, rejected, () => requestToken(deps, row, secret, user))
  }
}

async function requestToken(
  deps: AdministratorTokensDeps,
  row: CredentialRow,
  secret: AdministratorSecret,
  user: string,
): Promise<AdministratorToken> {
  const { db, guardedFetch, onProblem } = deps
  const provider = await requireAdministratorProvider(deps.clients, row.provider, secret)
  try {
    return await requestAdministratorToken(provider, secret, user, guardedFetch)
  } catch (error) {
    if (!(error instanceof OAuthRejected) || error.problem.kind !== 'consent') throw toFault(error)
    const { message } = error.problem
    await db.transaction().execute(async (trx) => {
      // The first of many mailboxes that meet the problem reports it.
      if (await markAdministratorProblem(trx, row, message, user))
        await onProblem(trx, row, message)
    })
    throw new ConsentNeeded(row, message)
  }
}
