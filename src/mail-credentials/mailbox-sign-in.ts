import { Fault } from '../errors.ts'
import { ImapLost, ImapRefused } from '../net/imap/connection/refusals.ts'
import { signIn, type Session } from '../net/imap/connection/imap-session.ts'
import type { SignIn } from '../net/imap/connection/imap-sign-in.ts'
import type { FreshToken } from './token-source.ts'

/**
 * Signs in with a token. One that the server rejects is replaced once: it may have been revoked
 * before its time.
 * @throws as `signIn`, and errors of `freshToken`
 */
export async function signInWithToken(
  account: SignIn,
  freshToken: FreshToken,
  signal?: AbortSignal,
): Promise<Session> {
  const accessToken = await freshToken()
  try {
    return await signIn({ ...account, accessToken }, signal)
  } catch (error) {
    if (refusalOf(error)?.kind !== 'sign_in') throw error
    return signIn({ ...account, accessToken: await freshToken(accessToken) }, signal)
  }
}

/** The server’s response to a failed sign-in; null for any other error. */
export function refusalOf(error: unknown) {
  if (error instanceof ImapRefused || error instanceof ImapLost) return error.refusal
  return error instanceof Fault && error.cause instanceof ImapRefused ? error.cause.refusal : null
}
