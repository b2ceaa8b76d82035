import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { updateRows } from '../../store/row.ts'

export type Refutation = {
  network: string
  address: string
  cause: 'whitelist' | 'canary' | 'appeal'
}

/** A network is refuted once for one address. */
export async function insertRefutations(
  db: Db,
  refutations: Refutation[],
  now: Date,
): Promise<void> {
  if (refutations.length === 0) return
  await db
    .insertInto('abuseRefutation')
    .values(refutations.map((refutation) => ({ ...refutation, at: now })))
    .onConflict((conflict) => conflict.columns(['network', 'address']).doNothing())
    .execute()
}

export async function listStandings(
  db: Db,
): Promise<{ network: string; standing: 'established' | 'trusted' }[]> {
  const rows = await db
    .selectFrom('abuseNetwork')
    .select(['network', 'standing'])
    .where('standing', '<>', 'new')
    .execute()
  return rows as { network: string; standing: 'established' | 'trusted' }[]
}

/**
 * Counts for every network the addresses it reported in thirty days before others listed them, how
 * many of these a strong network of another origin reported later, and how many were refuted.
 */
export async function listHistories(db: Db): Promise<
  {
    network: string
    standing: string
    firstSeenAt: Date
    establishedAt: Date | null
    reported: number
    confirmed: number
    refuted: number
  }[]
> {
  const { rows } = await sql<Awaited<ReturnType<typeof listHistories>>[number]>`
    with early as (
      select network, origin, address, min(at) as at from abuse_report where early group by network, origin, address
    ), strong as (
      select address, origin, max(at) as at from abuse_report where strong group by address, origin
    ), confirmed as (
      select network, count(distinct address) as count from early
      where exists (
        select from strong where strong.address = early.address and strong.origin <> early.origin and strong.at > early.at
      ) group by network
    ), reported as (
      select network, count(distinct address) as count from early group by network
    ), refuted as (
      select network, count(*) as count from abuse_refutation group by network
    )
    select network, standing, first_seen_at, established_at, coalesce(reported.count, 0) as reported,
      coalesce(confirmed.count, 0) as confirmed, coalesce(refuted.count, 0) as refuted
    from abuse_network left join reported using (network) left join confirmed using (network)
      left join refuted using (network)
    where reported.count >= 20 or standing <> 'new'`.execute(db)
  return rows
}

export async function updateStanding(
  db: Db,
  network: string,
  standing: string,
  establishedAt: Date | null,
): Promise<void> {
  await updateRows(db, 'abuseNetwork', { network }, { standing, establishedAt })
}
