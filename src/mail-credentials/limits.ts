import { MINUTE_SECONDS } from '../time.ts'

/**
 * When an access token is replaced: when less than so many seconds are left, or less than this
 * share of its lifetime.
 */
export const REFRESH_MARGIN = { seconds: 5 * MINUTE_SECONDS, share: 0.2 }

/** Seconds in which a sign-in at a provider must be completed. */
export const CONSENT_SECONDS = 10 * MINUTE_SECONDS

/**
 * Milliseconds for a request to a provider. A refresh makes up to two of them while it holds the
 * lock of a credential, for which others wait up to `LOCK_TIMEOUT_MS`.
 */
export const REQUEST_TIMEOUT_MS = 8_000

/** Credentials of one workspace. */
export const MAX_CREDENTIALS = 500

/** Sign-ins of one account in one workspace that have begun and not ended. */
export const MAX_OPEN_CONSENTS = 20

/** Days for which a credential is kept. */
export const KEEP_DAYS = {
  /** After the consent, for work that is still being prepared. */
  unused: 1,
  /** While it is used: a queue or a consent that is needed may take that long. */
  used: 30,
  /** After the work that used it has failed, so that it can be retried. */
  failed: 7,
  /** After the last use of an administrator’s: more mailboxes may follow. */
  administrator: 30,
}

/** Characters of a PEM text: a chain of certificates and a key of 4096 bits have room. */
export const MAX_PEM_LENGTH = 32_000

/** Access tokens of administrators’ credentials that one instance keeps: one for each mailbox. */
export const MAX_CACHED_TOKENS = 10_000

/** Seconds after which a token that a server rejected is replaced. */
export const MIN_TOKEN_SECONDS = MINUTE_SECONDS
