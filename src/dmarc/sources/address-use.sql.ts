import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'

/** What an address, or a /64 of addresses, sent for a domain. */
export type AddressUse = {
  domainId: string
  domain: string
  source: string
  reverseName: string | null
  messages: number
  passed: number
  dkim: number
  spf: number
  forwarded: number
  firstDay: string
  lastDay: string
}

const MAX_USES = 100

/**
 * Lists the domains of a workspace that an address, or a network of addresses, sends for, most
 * messages first. It reads the sums of months, by the index that begins with the source.
 * @param from a day of the first month
 */
export async function listAddressUses(
  db: Db,
  workspaceId: string,
  { first, last }: { first: string; last: string },
  from: string,
): Promise<AddressUse[]> {
  const { rows } = await sql<AddressUse>`
    with seen as (
      select d.id as domain_id, d.domain, m.source, sum(m.messages) as messages, sum(m.aligned) as passed,
        sum(m.dkim) as dkim, sum(m.spf) as spf, sum(m.forwarded) as forwarded,
        min(m.first_day) as first_day, max(m.last_day) as last_day
      from dmarc_source_month m join dmarc_domain d on d.id = m.domain_id
      where m.domain_id = any(array(select id from dmarc_domain where workspace_id = ${workspaceId}))
        and m.month = any(array(select at::date from generate_series(
          date_trunc('month', ${from}::date), now(), interval '1 month') as asked (at)))
        and ${isBetween({ first, last })}
      group by d.id, d.domain, m.source having sum(m.messages) > 0
      order by messages desc, d.domain, m.source limit ${MAX_USES})
    select domain_id, domain, host(source) as source, case when a.confirmed then a.reverse_name end as reverse_name,
      messages::bigint, passed::bigint, dkim::bigint, spf::bigint, forwarded::bigint, first_day, last_day
    from seen left join dmarc_address a on a.address = source
    order by messages desc, domain, source`.execute(db)
  return rows
}

/** One address is looked up in each domain: other workspaces may have thousands of rows of it. */
function isBetween({ first, last }: { first: string; last: string }) {
  return first === last
    ? sql`m.source = ${first}::inet`
    : sql`m.source between ${first}::inet and ${last}::inet`
}
