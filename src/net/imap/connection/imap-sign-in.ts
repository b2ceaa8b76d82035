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
  /** Without `secure`: never plain text, whatever the address. */
  requireStartTls?: boolean
  /** The user whose mailbox is opened. */
  user: string
  /** Either a password or a token. The token is for XOAUTH2 or OAUTHBEARER. */
  password?: string
  accessToken?: string
  /** Signs in with the password of an administrator, who opens the mailbox of `user`. */
  administrator?: Administrator
  /** Whether the certificate must verify; true by default. */
  tlsVerify?: boolean
}

/**
 * How an administrator’s password opens another user’s mailbox.
 * - `authzid`: SASL PLAIN with an authorization identity (RFC 4616): Dovecot, Zimbra, Cyrus, others
 * - `cyrus`: the same, for a Cyrus server that hides its name. Cyrus may create a mailbox for any
 *   name (autocreate), so the administrator’s LIST must show the mailbox first. A server that greets
 *   as Cyrus is always checked.
 * - `master`: a combined user name, `user*administrator` (Dovecot master users, Stalwart)
 */
export const ADMINISTRATOR_METHODS = ['authzid', 'cyrus', 'master'] as const
export type AdministratorMethod = (typeof ADMINISTRATOR_METHODS)[number]

export type Administrator = {
  user: string
  method: AdministratorMethod
  /** Between user and administrator with the method `master`: `*` by default. */
  separator?: string | undefined
}

/** The errors of a sign-in that was not attempted. */
export const NO_SASL_PLAIN = 'No SASL PLAIN'
export const UNCHECKED_CYRUS_USER = 'Unchecked user of Cyrus'
