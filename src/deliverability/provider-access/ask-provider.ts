import { Fault, messageOf } from '../../errors.ts'
import { ConsentNeeded, type ReadAccessToken } from '../../mail-credentials/access-token.ts'
import type { FreshToken } from '../../mail-credentials/token-source.ts'
import type { GuardedFetch } from '../../net/http/guarded-fetch.ts'
import { retryAfterSeconds } from '../../net/http/retry-after.ts'
import { AccessProblem } from './access-problem.ts'

export type Answer = {
  status: number
  text: string
  contentType: string | null
  /** Seconds of `Retry-After`. */
  retryAfter: number | null
}

/**
 * Sends a request to a provider of statistics, and reads its answer whole. Redirects are not followed.
 * @throws AccessProblem `later` when it was not reached, or its answer is too large
 */
export async function askProvider(
  request: GuardedFetch,
  url: string,
  init: Parameters<GuardedFetch>[1],
): Promise<Answer> {
  try {
    const response = await request(url, init)
    return {
      status: response.status,
      text: await response.text(),
      contentType: response.headers.get('content-type'),
      retryAfter: retryAfterSeconds(response.headers.get('retry-after')),
    }
  } catch (error) {
    init.signal?.throwIfAborted()
    if (error instanceof Fault) throw new AccessProblem('later', messageOf(error))
    throw error
  }
}

type SignIn = { workspaceId: string; credentialId: string | null }

/** The tokens of a sign-in. @throws (the function) AccessProblem @param where such as “at Google” */
export function tokensOf(
  readToken: ReadAccessToken,
  { workspaceId, credentialId }: SignIn,
  where: string,
): FreshToken {
  return async (rejected) => {
    if (credentialId === null)
      throw new AccessProblem('ended', `The sign-in ${where} was deleted. Sign in again.`)
    try {
      return await readToken(workspaceId, credentialId, rejected)
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      const isEnded = error instanceof ConsentNeeded || error.code === 'not_found'
      throw new AccessProblem(isEnded ? 'ended' : 'later', error.message)
    }
  }
}
