import type { Target } from '../../guard.ts'

/** An IMAP account and how to connect to it. */
export type SignIn = {
  /** The host as the guard checked it (`checkTarget`). */
  target: Target
  port: number
  /**
   * TLS from the first byte. Otherwise STARTTLS where offered, and plain text only to addresses
   * that are not public.
   */
  secure: boolean
  user: string
  /** Either a password or a token. The token is for XOAUTH2 or OAUTHBEARER. */
  password?: string
  accessToken?: string
  /** Whether the certificate must verify; true by default. */
  tlsVerify?: boolean
}
