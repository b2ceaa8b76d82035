/** Limits of the links with which owners of mailboxes sign in. */
export const OWNER_LINK_LIMITS = {
  /** Days for which a link is valid, unless the request says otherwise. */
  days: 7,
  maxDays: 30,
  /** Passwords that a link tries. A mail server may lock an account out after more. */
  attempts: 5,
} as const
