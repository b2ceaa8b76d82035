import { signInWithToken } from '../../../mail-credentials/mailbox-sign-in.ts'
import { signIn, type Session } from '../../../net/imap/connection/imap-session.ts'
import type { SignIn } from '../../../net/imap/connection/imap-sign-in.ts'

/** One side of a migration. */
export type MigrationAccount = {
  account: SignIn
  /**
   * Returns an access token that is valid for a while, in place of the one of the account.
   * @param rejected a token that the server rejected: another one is needed
   */
  freshToken?: ((rejected?: string) => Promise<string>) | undefined
  /** Takes the place of signing in, for mail in files. The account then only names it. */
  openSession?: () => Session
}

/**
 * Signs in. A token that the server rejects is replaced once: it may have been revoked before its
 * time.
 * @throws as `signIn`, and errors of `freshToken`
 */
export async function signInFresh(
  { account, freshToken }: MigrationAccount,
  signal?: AbortSignal,
): Promise<Session> {
  return freshToken ? signInWithToken(account, freshToken, signal) : signIn(account, signal)
}
