import { sql } from 'kysely'
import type { Db } from '../store/database.ts'

export type ExpiryDates = { reports: Date; contents: Date }

/**
 * Deletes some of the expired rows and contents. Expired aggregate reports must be deleted first.
 * @param limit rows of each kind, which keeps each statement short
 * @returns the number of rows deleted or emptied
 */
export async function deleteExpiredReports(
  db: Db,
  { reports, contents }: ExpiryDates,
  limit: number,
): Promise<number> {
  const old = (table: string, column: string) => sql`
    delete from ${sql.table(table)} where ctid in (
      select ctid from ${sql.table(table)} where ${sql.ref(column)} < ${reports} limit ${limit})`
  const statements = [
    sql`update dmarc_delivery set content = null where id in (
      select id from dmarc_delivery where received_at < ${contents} and content is not null limit ${limit})`,
    old('dmarc_tls_report', 'received_at'),
    old('dmarc_set_aside', 'received_at'),
    old('dmarc_delivery', 'received_at'),
  ]
  let changed = 0
  for (const statement of statements)
    changed += Number((await statement.execute(db)).numAffectedRows ?? 0)
  return changed
}

export type FailureRise = {
  domainId: string
  workspaceId: string
  domain: string
  day: string
  messages: number
  failing: number
  /** Share that failed on the days before, 0 to 1. */
  before: number
}

/**
 * Domains with far more failures on a recent day than in the two weeks before, without an alert
 * about it. The last three days count as recent, because reports arrive late.
 */
export async function listFailureRises(
  db: Db,
  least: { failing: number; more: number; times: number },
): Promise<FailureRise[]> {
  const { rows } = await sql<FailureRise>`
    with daily as (
      select domain_id, day, sum(messages)::float as messages, sum(messages - aligned)::float as failing
      from dmarc_reporter_day where day > current_date - 18 group by domain_id, day
    ),
    compared as (
      select recent.*, coalesce(sum(earlier.failing) / nullif(sum(earlier.messages), 0), 0) as before,
        count(earlier.day) as days
      from daily recent left join daily earlier
        on earlier.domain_id = recent.domain_id and earlier.day between recent.day - 14 and recent.day - 1
      where recent.day >= current_date - 3 group by recent.domain_id, recent.day, recent.messages, recent.failing
    )
    select distinct on (d.id) d.id as domain_id, d.workspace_id, d.domain, c.day, c.messages, c.failing, c.before
    from compared c join dmarc_domain d on d.id = c.domain_id
    where c.days >= 3 and c.failing >= ${least.failing}
      and c.failing / c.messages >= greatest(c.before * ${least.times}, c.before + ${least.more})
      and (d.rise_told is null or d.rise_told < c.day - 7)
    order by d.id, c.day desc`.execute(db)
  return rows
}

/** @returns false if another instance has raised the alert already */
export async function markRiseAlerted(
  db: Db,
  { domainId, day }: Pick<FailureRise, 'domainId' | 'day'>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('dmarcDomain')
    .set({ riseTold: day })
    .where('id', '=', domainId)
    .where((eb) => eb.or([eb('riseTold', 'is', null), eb('riseTold', '<', day)]))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
