import { sql } from 'kysely'
import type { Db } from '../database.ts'

/** Burst size, and the seconds in which it is refilled. */
export type Rate = { requests: number; windowSeconds: number }

/**
 * Counts a request of an account over all instances, by the database’s clock.
 * @param accountId the account that answers for the workspace of the request
 * @returns 0 when it is within the rate; otherwise it was not counted, and this is the number of
 *   seconds until one would be
 */
export async function countRequest(
  db: Db,
  accountId: string,
  name: string,
  { requests, windowSeconds }: Rate,
): Promise<number> {
  const cost = sql`make_interval(secs => ${windowSeconds / requests})`
  const latest = sql`now() + make_interval(secs => ${windowSeconds})`
  // At most one window ahead: the clock may have been ahead when it was written.
  const used = sql`greatest(least(known.full_at, ${latest}), now())`
  const { rows } = await sql`
    insert into account_rate as known (account_id, name, full_at) values (${accountId}::uuid, ${name}, now() + ${cost})
    on conflict (account_id, name) do update set full_at = ${used} + ${cost} where ${used} + ${cost} <= ${latest}
    returning name`.execute(db)
  if (rows.length > 0) return 0
  const left = await sql<{ seconds: number }>`
    select extract(epoch from ${used} + ${cost} - (${latest}))::float8 as seconds
    from account_rate known where account_id = ${accountId}::uuid and name = ${name}`.execute(db)
  return Math.max(0.001, left.rows[0]?.seconds ?? 0)
}
