import type { Pool } from 'pg'
import type { Config } from '../../config.ts'
import type { Logger } from '../../log.ts'
import type { SignUp } from '../registration/sign-up.ts'

/**
 * Internal header for the client's address. It is always overwritten, so that a client cannot
 * choose whose limit it uses.
 */
export const CLIENT_HEADER = 'x-portreeve-client'

export type AuthOptions = {
  pool: Pool
  config: Pick<Config, 'BASE_URL' | 'SIGNUP' | 'DEFAULT_PLAN' | 'PASSWORD_SIGN_IN'>
  /** The key that signs the cookies and encrypts authenticator apps. */
  secret: string
  log: Logger
  /** Whether the first account exists. Until then sign-up is closed. */
  isSetUp: () => Promise<boolean>
  isDisabled?: (accountId: string) => Promise<boolean>
  /** Ends the oldest sessions of an account beyond those that it may have. */
  trimSessions?: (accountId: string) => Promise<void>
  /** Handles sign-ups, where they are open. */
  signUp?: SignUp
  /** Called with the account's id after a change of the account or of its sessions. */
  onChange: (accountId: string) => Promise<void>
  passwordCost?: number | undefined
}

/** Whether visitors can create an account with a password. */
export function isSignUpOpen({
  SIGNUP,
  PASSWORD_SIGN_IN,
}: Pick<Config, 'SIGNUP' | 'PASSWORD_SIGN_IN'>): boolean {
  return SIGNUP === 'open' && PASSWORD_SIGN_IN === 'on'
}

/** The origins of the dashboard: that of BASE_URL, and for a loopback name its other spellings. */
export function ownOrigins(baseUrl: string): string[] {
  const { protocol, hostname, port, origin } = new URL(baseUrl)
  const loopback = ['localhost', '127.0.0.1', '[::1]']
  if (!loopback.includes(hostname)) return [origin]
  return loopback.map((name) => `${protocol}//${name}${port && `:${port}`}`)
}
