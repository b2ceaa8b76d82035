import type { SignIn } from '../../net/imap/connection/imap-sign-in.ts'

/** Names files in place of an account, for the journal. No connection is made to it. */
export function filesAccount(roots: readonly string[]): SignIn {
  const target = { host: 'files', servername: undefined, addresses: [] }
  return { target, port: 0, secure: true, user: roots.join(':') }
}
