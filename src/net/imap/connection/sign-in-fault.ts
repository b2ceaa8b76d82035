import { Fault } from '../../../errors.ts'
import {
  classifyRefusal,
  ImapRefused,
  sanitise,
  describeRefusal,
  type Refusal,
} from './refusals.ts'
import { NO_SASL_PLAIN, UNCHECKED_CYRUS_USER, type SignIn } from './imap-sign-in.ts'
import { describeChallenge } from './token-challenge.ts'
import { NOT_TLS_CODES, UNVERIFIED } from '../../tls/failure-codes.ts'

/** The properties that ImapFlow and Node add to their errors. */
type SignInError = Error & {
  code?: string
  responseStatus?: string
  responseText?: string
  serverResponseCode?: string
  authenticationFailed?: boolean
  tlsFailed?: boolean
  /** The text of a BYE. */
  reason?: string
  /** The whole response as text, in place of `responseText`. */
  response?: unknown
  /** The error challenge of a token sign-in. */
  oauthError?: unknown
}

const TIMEOUT_CODES = new Set([
  'CONNECT_TIMEOUT',
  'GREETING_TIMEOUT',
  'UPGRADE_TIMEOUT',
  'ETIMEOUT',
  'ETIMEDOUT',
])
/** Messages of ImapFlow when it did not attempt to sign in. */
const NOT_ATTEMPTED: Record<string, string> = {
  'Login is disabled': 'allows no sign-in without TLS (LOGINDISABLED)',
  'No matching authentication method': 'offers no way to sign in that we know',
  'No password configured': 'cannot be signed in to with an empty password',
  // Applies to tokens only: a password that no mechanism accepts is sent with LOGIN.
  'Unsupported authentication mechanism':
    'takes no access tokens (it offers neither XOAUTH2 nor OAUTHBEARER)',
  [NO_SASL_PLAIN]:
    'does not offer SASL PLAIN (AUTH=PLAIN), so an administrator cannot sign in for a user',
  [UNCHECKED_CYRUS_USER]: 'is a Cyrus server, whose mailboxes are checked first',
}

const NOT_IMAP =
  /^(?:ParserError|LineTooLarge|LiteralTooLarge|ResponseTooLarge|UnexpectedTag|InvalidResponse)/
const CERTIFICATE = /CERT|SELF_SIGNED|VERIFY|ISSUER|ALTNAME/

/** Converts a failed sign-in to a fault, with the server’s own text. */
export function signInFault(
  thrown: unknown,
  socketError: SignInError | undefined,
  account: SignIn,
): Fault {
  if (thrown instanceof Fault) return thrown
  const error = thrown as SignInError
  // The error of the socket is more specific than “connection not available”.
  const codes = [error, socketError].map((one) => one?.code ?? '')
  const where = `${account.target.host}:${account.port}`
  const cause = error
  if (codes.some((code) => TIMEOUT_CODES.has(code))) return signInTimeout(account)
  if (codes.some((code) => NOT_TLS_CODES.has(code))) {
    return new Fault(
      'upstream_rejected',
      `${where} does not speak TLS on this port; try secure: false.`,
      { cause },
    )
  }
  const certificate = codes.find((code) => CERTIFICATE.test(code))
  if (certificate) return certificateFault(where, certificate, cause)
  if (error.responseStatus === undefined && NOT_ATTEMPTED[error.message]) {
    return new Fault('upstream_rejected', `${where} ${NOT_ATTEMPTED[error.message]}.`, { cause })
  }
  if (error.authenticationFailed || error.responseStatus || error.reason)
    return rejectedFault(account, error)
  if (
    error.tlsFailed ||
    codes.includes('MissingServerExtension') ||
    /STARTTLS/i.test(error.message)
  )
    return noTlsFault(where, cause)
  if (error instanceof TypeError || codes.some((code) => NOT_IMAP.test(code))) {
    return new Fault('upstream_rejected', `${where} answered something that is not IMAP.`, {
      cause,
    })
  }
  return new Fault('upstream_unreachable', `${where} ${whyUnreachable(codes)}.`, { cause })
}

export function signInTimeout({ target, port }: SignIn): Fault {
  return new Fault('upstream_timeout', `${target.host}:${port} did not answer in time.`)
}

function rejectedFault(account: SignIn, error: SignInError): Fault {
  const { target, port } = account
  const refusal = refusalOf(error)
  const words = refusal.text === '' ? '' : ` The server said: “${describeRefusal(refusal)}”`
  const isSignIn =
    refusal.kind === 'sign_in' ||
    (SENTENCES[refusal.kind] === undefined && error.authenticationFailed)
  const cause = new ImapRefused('Signing in', isSignIn ? { ...refusal, kind: 'sign_in' } : refusal)
  const sentence = isSignIn
    ? whyRejected(account, error)
    : (SENTENCES[refusal.kind] ?? 'does not want to talk.')
  return new Fault('upstream_rejected', `${target.host}:${port} ${sentence}${words}`, { cause })
}

/** Exchange accepts a token whose app may not open the mailbox, and rejects the next command. */
const NOT_CONNECTED = /authenticated but not connected/i

/** Whether a server took the password, and the mailbox cannot be opened, maybe for a moment. */
export function isWithoutMailbox({ text }: Refusal): boolean {
  return NOT_CONNECTED.test(text)
}

function whyRejected(
  { user, accessToken, administrator }: SignIn,
  { response, oauthError }: SignInError,
): string {
  if (NOT_CONNECTED.test(String(response)))
    return `accepted the sign-in, but not for the mailbox of ${user}: IMAP is off for it, or the app or administrator has no permission (FullAccess).`
  if (accessToken !== undefined) {
    const meaning = describeChallenge(oauthError)
    return `refused the access token: ${meaning ?? 'it may have expired'}.`
  }
  return administrator
    ? `refused the administrator’s password, or the administrator may not sign in as ${user}.`
    : 'refused the user name or password.'
}

/** The administrator signed in, and the server does not let them read the mailbox. */
export function unreadableInboxFault({ target, user }: SignIn, cause: ImapRefused): Fault {
  return new Fault(
    'upstream_rejected',
    `${target.host} accepted the administrator’s sign-in for ${user}, but not reading INBOX. Give the administrator access to the mailbox (ACL). The server said: “${describeRefusal(cause.refusal)}”`,
    { cause },
  )
}

const SENTENCES: Partial<Record<Refusal['kind'], string>> = {
  too_many_connections: 'allows no more connections for this user.',
  throttled: 'asks us to slow down.',
  busy: 'is not available for the moment.',
}

function refusalOf(error: SignInError): Refusal {
  if (error.reason !== undefined && error.responseStatus === undefined)
    return classifyRefusal('BYE', null, error.reason)
  const status = error.responseStatus === 'BAD' ? 'BAD' : 'NO'
  return classifyRefusal(
    status,
    error.serverResponseCode ?? null,
    error.responseText ?? (typeof error.response === 'string' ? error.response : error.message),
  )
}

function certificateFault(where: string, code: string, cause: Error): Fault {
  const why = UNVERIFIED[code] ?? `does not verify (${sanitise(code)})`
  const sentence = `The certificate of ${where} ${why}. If it is your own server, clear “Verify the certificate” (API: tlsVerify false, command line: --no-verify).`
  return new Fault('upstream_unreachable', sentence, { cause })
}

function noTlsFault(where: string, cause: Error): Fault {
  const sentence = `${where} does not offer STARTTLS, and passwords are not sent in the clear over the Internet.`
  return new Fault('upstream_rejected', sentence, { cause })
}

function whyUnreachable(codes: string[]): string {
  if (codes.includes('ECONNREFUSED')) return 'refused the connection'
  if (codes.some((code) => code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')))
    return 'failed the TLS handshake'
  const code = codes.find((one) => /^E[A-Z]+$/.test(one))
  return code ? `cannot be reached (${code})` : 'closed the connection'
}
