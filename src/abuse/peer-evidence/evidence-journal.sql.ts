import { sql, type Transaction } from 'kysely'
import { ADVISORY_LOCKS } from '../../store/advisory-locks.ts'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'

/** One entry of the journal, in the order of positions. */
export type JournalEntry = {
  position: number
  id: string
  kind: 'evidence' | 'withdrawal'
  address: string
  service: string
  network: string
  seenAt: Date
}

/**
 * Serializes writers of the journal until the transaction ends. Otherwise a reader could see a
 * number before a lower one that is committed later, and miss that.
 */
async function lockJournal(trx: Transaction<DB>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.federationJournal})`.execute(trx)
}

/** Up to when reports were collected; null at the beginning. */
export async function findCollected(db: Db): Promise<Date | null> {
  const row = await db.selectFrom('federationCollection').select('collectedAt').executeTakeFirst()
  return row?.collectedAt ?? null
}

/**
 * Adds the evidence against addresses that were reported in a period. Evidence of peers, and of
 * networks that reported themselves, is left out.
 * @returns the number of new entries
 */
export async function collect(
  trx: Transaction<DB>,
  { from, to, oldest }: { from: Date; to: Date; oldest: Date },
): Promise<number> {
  await lockJournal(trx)
  const { numAffectedRows } = await sql`
    with reported as (select distinct address from abuse_report where at >= ${from} and at < ${to}),
    evidence as (
      select address, entry ->> 2 as service, entry ->> 0 as network,
        to_timestamp((entry ->> 6)::float8 / 1000) as at
      from reported join abuse_address using (address), json_array_elements(evidence) as entry
      where state <> 'whitelisted' and entry ->> 3 <> 'mute' and entry ->> 0 not like 'peer:%'
    )
    insert into federation_journal (number, address, service, network, day, seen_at)
    select nextval('federation_number'), address, service, network, (at at time zone 'UTC')::date,
      date_trunc('hour', at, 'UTC')
    from evidence where at >= ${oldest} and at <= ${to}::timestamptz + interval '1 hour'
    on conflict do nothing`.execute(trx)
  await trx
    .insertInto('federationCollection')
    .values({ collectedAt: to })
    .onConflict((conflict) => conflict.column('single').doUpdateSet({ collectedAt: to }))
    .execute()
  return Number(numAffectedRows ?? 0n)
}

/** Withdraws everything that the journal says about an address. */
export async function withdraw(trx: Transaction<DB>, address: string): Promise<void> {
  await lockJournal(trx)
  await sql`
    update federation_journal set withdrawn_number = nextval('federation_number')
    where address = ${address}::inet and withdrawn_number is null`.execute(trx)
}

/** Lists entries after a position. Evidence that was withdrawn meanwhile is left out. */
export async function listJournal(db: Db, after: number, limit: number): Promise<JournalEntry[]> {
  const { rows } = await sql<JournalEntry>`
    (select number as position, id, 'evidence' as kind, address, service, network, seen_at
      from federation_journal where number > ${after} and withdrawn_number is null
      order by number limit ${limit})
    union all
    (select withdrawn_number, id, 'withdrawal', address, service, network, seen_at
      from federation_journal where withdrawn_number > ${after} and number <= ${after}
      order by withdrawn_number limit ${limit})
    order by position limit ${limit}`.execute(db)
  return rows
}

/** The last number that was given, also to entries that are deleted by now. */
export async function lastPosition(db: Db): Promise<number> {
  const { rows } = await sql<{ last: number }>`
    select case when is_called then last_value else 0 end as last from federation_number`.execute(
    db,
  )
  return rows[0]?.last ?? 0
}
