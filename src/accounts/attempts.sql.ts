import { sql } from 'kysely'
import type { Db } from '../store/database.ts'
import { deleteRows, hasRow } from '../store/row.ts'

type Backoff = {
  freeFailures: number
  firstSeconds: number
  longestSeconds: number
  forgottenAfterSeconds: number
}

/**
 * Counts an attempt as a failure, all at once for all instances; false while the attempts on this
 * key are blocked. The time is read once the row is locked: `now()` is when the transaction began,
 * which may be before another attempt that went through in the meantime. While they are blocked, the row
 * is only read: locking it would be a write for each guess.
 */
export async function reserveAttempt(db: Db, key: Buffer, backoff: Backoff): Promise<boolean> {
  const { freeFailures, firstSeconds, longestSeconds, forgottenAfterSeconds } = backoff
  const isForgotten = sql`known.last_failed_at < now() - make_interval(secs => ${forgottenAfterSeconds})`
  const failures = sql`(case when ${isForgotten} then 1 else known.failures + 1 end)`
  const seconds = sql`(case when ${failures} < ${freeFailures}::int then 0
    else least(${longestSeconds}::float8, ${firstSeconds}::float8 * power(2, least(${failures} - ${freeFailures}::int, 20))) end)`
  const { rows } = await sql`
    insert into password_attempt as known (key, failures)
    select ${key}, 1 where not exists (
      select from password_attempt where key = ${key} and blocked_until > clock_timestamp())
    on conflict (key) do update set
      failures = ${failures}, last_failed_at = now(), blocked_until = now() + make_interval(secs => ${seconds})
    where known.blocked_until <= clock_timestamp()
    returning failures`.execute(db)
  return rows.length > 0
}

/** @returns seconds until the next attempt, at least one */
export async function findBlockEnd(db: Db, key: Buffer): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select ceil(extract(epoch from blocked_until - now()))::int as seconds from password_attempt where key = ${key}`.execute(
    db,
  )
  return Math.max(1, rows[0]?.seconds ?? 1)
}

/** Deletes the attempts after a correct password. */
export async function clearAttempts(db: Db, key: Buffer): Promise<void> {
  await deleteRows(db, 'passwordAttempt', { key })
}

/** Takes back an attempt where no password was checked. */
export async function releaseAttempt(db: Db, key: Buffer): Promise<void> {
  await sql`update password_attempt set failures = greatest(failures - 1, 0), blocked_until = now()
    where key = ${key}`.execute(db)
}

export async function isKnownNetwork(db: Db, hash: Buffer): Promise<boolean> {
  return hasRow(db, 'knownNetwork', { hash })
}

export async function saveKnownNetwork(db: Db, hash: Buffer, email: string): Promise<void> {
  await sql`insert into known_network (hash, account_id) select ${hash}, id from account where email = ${email}
    on conflict (hash) do update set last_used_at = now()`.execute(db)
}
