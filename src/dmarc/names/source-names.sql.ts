import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'

/** Addresses whose names were never looked up, or a month ago. */
export async function listUnnamedAddresses(db: Db, limit: number): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select host(address) as address from dmarc_address
    where asked_at is null or asked_at < now() - interval '30 days'
    order by asked_at nulls first limit ${limit}`.execute(db)
  return rows.map(({ address }) => address)
}

export type NamedAddress = { address: string; reverseName: string | null; confirmed: boolean }

export async function setNames(db: Db, named: NamedAddress[]): Promise<void> {
  await sql`
    update dmarc_address a set reverse_name = n."reverseName", confirmed = n.confirmed, asked_at = now()
    from json_to_recordset(${JSON.stringify(named)}::json) as n (address inet, "reverseName" text, confirmed boolean)
    where a.address = n.address`.execute(db)
}

/** Deletes up to `limit` addresses that no statistics refer to. */
export async function deleteUnusedAddresses(db: Db, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from dmarc_address where address in (
      select address from dmarc_address a
      where asked_at < now() - interval '30 days'
        and not exists (select from dmarc_source_day d where d.source = a.address)
      limit ${limit})`.execute(db)
  return Number(numAffectedRows ?? 0)
}
