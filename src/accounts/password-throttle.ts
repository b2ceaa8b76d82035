import { createHmac } from 'node:crypto'
import type { Kysely } from 'kysely'
import { Fault } from '../errors.ts'
import { retryText } from '../http/retry-text.ts'
import type { DB } from '../store/tables.ts'
import { clearAttempts, findBlockEnd, releaseAttempt, reserveAttempt } from './attempts/store.ts'
import { deriveKey } from './keys.ts'

/**
 * Wrong passwords that cost nothing. After the last of them somebody waits 15 s, then twice as long each time, up to 5 min; an
 * hour without a wrong one forgets them. So an account stands some 300 guesses a day, from however many addresses.
 */
export const BACKOFF = { freeFailures: 10, firstSeconds: 15, longestSeconds: 300, forgottenAfterSeconds: 3600 }

/** What came of asking for a password; `unchecked` where something else was refused before it was looked at. */
export type PasswordOutcome = 'right' | 'wrong' | 'unchecked'

export type PasswordThrottle = ReturnType<typeof createPasswordThrottle>

/** Counts wrong passwords in the database, for all instances together. */
export function createPasswordThrottle({ db, secretKey }: { db: Kysely<DB>; secretKey: string }) {
  const key = deriveKey(secretKey, 'password attempts')
  const keyOf = (subject: string) => createHmac('sha256', key).update(subject).digest()

  return {
    /**
     * Checks a password, unless too many were wrong. It counts as wrong while it is being checked, so that of many guesses at
     * the same moment no more are checked than one after the other would be.
     * @param subject what is guessed at: of `subjects` below
     * @throws Fault `rate_limited` with the seconds to wait
     */
    async check<T>(subject: string, ask: () => Promise<T>, outcomeOf: (answer: T) => PasswordOutcome): Promise<T> {
      const attempt = keyOf(subject)
      if (!(await reserveAttempt(db, attempt, BACKOFF))) throw tooMany(await findBlockEnd(db, attempt))
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

/** What may be guessed at, each with a count of its own. */
export const subjects = {
  /** An e-mail, whether or not it has an account; from anywhere. */
  email: (email: string) => `email ${email}`,
  /** The same from a browser or a network that its owner has signed in from: a stranger's guesses do not count there. */
  device: (nonce: string) => `device ${nonce}`,
  network: (email: string, network: string) => `network ${email} ${network}`,
  /** The password of an account from within one of its sessions. */
  session: (accountId: string) => `session ${accountId}`,
}

function tooMany(seconds: number): Fault {
  const sentence = `Too many wrong passwords for this account. Try again ${retryText(seconds)}.`
  return new Fault('rate_limited', sentence, { retryAfter: seconds })
}
