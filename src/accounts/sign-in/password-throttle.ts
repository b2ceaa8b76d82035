import { createHmac } from 'node:crypto'
import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import { retryText } from '../../http/limits/retry-text.ts'
import type { DB } from '../../store/tables.ts'
import { clearAttempts, findBlockEnd, releaseAttempt, reserveAttempt } from '../attempts.sql.ts'
import { deriveKey } from '../../derive-key.ts'
import { HOUR_SECONDS } from '../../time.ts'

/**
 * Backoff after wrong passwords: 10 are free, then each further attempt waits 15 s, 30 s and so on,
 * up to 5 min. An hour without a wrong password resets it. An account therefore allows about 300
 * guesses a day, from any number of addresses.
 */
export const BACKOFF = {
  freeFailures: 10,
  firstSeconds: 15,
  longestSeconds: 300,
  forgottenAfterSeconds: HOUR_SECONDS,
}

/** Outcome of a password check; `unchecked` where the request was rejected before the check. */
export type PasswordOutcome = 'right' | 'wrong' | 'unchecked'

export type PasswordThrottle = ReturnType<typeof createPasswordThrottle>

/**
 * Throttles password guesses. Wrong passwords are counted in the database, for all instances
 * together.
 */
export function createPasswordThrottle({ db, secretKey }: { db: Kysely<DB>; secretKey: string }) {
  const key = deriveKey(secretKey, 'password attempts')
  const keyOf = (subject: string) => createHmac('sha256', key).update(subject).digest()

  return {
    /**
     * Runs a password check, unless too many were wrong. An attempt counts as wrong while it is
     * being checked, so that concurrent guesses get no more checks than sequential ones.
     * @param subject one of `subjects` below
     * @throws Fault `rate_limited` with the seconds to wait
     */
    async check<T>(
      subject: string,
      ask: () => Promise<T>,
      outcomeOf: (answer: T) => PasswordOutcome,
    ): Promise<T> {
      const attempt = keyOf(subject)
      if (!(await reserveAttempt(db, attempt, BACKOFF)))
        throw tooMany(await findBlockEnd(db, attempt))
      let outcome: PasswordOutcome = 'unchecked'
      try {
        const answer = await ask()
        outcome = outcomeOf(answer)
        return answer
      } finally {
        if (outcome === 'right') await clearAttempts(db, attempt)
        if (outcome === 'unchecked') await releaseAttempt(db, attempt)
      }
    },
  }
}

/** Subjects of guessing, each with its own count. */
export const subjects = {
  /** An email, whether or not it has an account, from an unknown client. */
  email: (email: string) => `email ${email}`,
  /**
   * The same from a browser or network that its owner has signed in from, where guesses of
   * strangers do not count.
   */
  device: (nonce: string) => `device ${nonce}`,
  network: (email: string, network: string) => `network ${email} ${network}`,
  /** The password of an account from within one of its sessions. */
  session: (accountId: string) => `session ${accountId}`,
  /** The codes that confirm a change of the address. */
  emailChange: (accountId: string) => `email change ${accountId}`,
}

function tooMany(seconds: number): Fault {
  const sentence = `Too many wrong passwords for this account. Try again ${retryText(seconds)}.`
  return new Fault('rate_limited', sentence, { retryAfter: seconds })
}
