import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'

/**
 * How long a code of an authenticator app could be accepted: for its step of 30 seconds, and for one
 * step before and after.
 */
export const CODE_LIFETIME_SECONDS = 120

/** What a one-time secret is for. The same text for two purposes is two secrets. */
export type SecretPurpose = 'totp' | 'passkey' | 'oidc' | 'password-reset' | 'email-change'

/**
 * Marks a one-time secret as used, in all instances at once. Only secrets that were checked before
 * are stored, so that guesses leave no rows.
 * @param secret with everything that distinguishes it, such as the account of a code
 * @param lifetimeSeconds how long the secret could have been used
 * @returns false when it was used before
 */
export async function claimSecret(
  db: Db,
  purpose: SecretPurpose,
  secret: string,
  lifetimeSeconds: number,
): Promise<boolean> {
  const hash = createHash('sha256').update(`${purpose}\n${secret}`).digest()
  const { rows } = await sql`
    insert into used_secret as known (hash, expires_at)
    values (${hash}, now() + make_interval(secs => ${lifetimeSeconds}))
    on conflict (hash) do update set expires_at = excluded.expires_at
    where known.expires_at <= now()
    returning 1`.execute(db)
  return rows.length > 0
}
