import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { countRows, updateRows } from '../../store/row.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import type { VolumeRow } from '../senders/sender-marks.sql.ts'
import { daysAndMonths, GROUP, SUMS, type DayRange } from '../summary/dmarc-summary.sql.ts'

export type CheckedDomain = {
  id: string
  workspaceId: string
  domain: string
  /** When its senders were compared last; null for the first time. */
  sendersCheckedAt: Date | null
  /** Day of its first report, `YYYY-MM-DD`. */
  firstDay: string
}

/**
 * Domains that received reports since their senders were compared, or shortly before: the names of
 * new addresses are looked up later. Those that have waited longest first.
 */
export async function listUncheckedSenders(
  db: Db,
  before: Date,
  limit: number,
): Promise<CheckedDomain[]> {
  const { rows } = await sql<CheckedDomain>`
    select d.id, d.workspace_id, d.domain, d.senders_checked_at, first.day as first_day
    from dmarc_domain d cross join lateral (
      select day from dmarc_reporter_day s where s.domain_id = d.id order by day limit 1) first
    where d.last_report_at > coalesce(d.senders_checked_at, '-infinity') - interval '3 hours'
      and coalesce(d.senders_checked_at, '-infinity') < ${before}
      and not ${isInDeletedWorkspace('d.workspace_id')}
    order by d.senders_checked_at nulls first, d.id limit ${limit}`.execute(db)
  return rows
}

/**
 * The sources of a range whose names were looked up, those with passes first, then the largest.
 * @param leastMessages of a source without passes
 */
export async function listNamedSources(
  db: Db,
  domainId: string,
  range: DayRange,
  { leastMessages, limit }: { leastMessages: number; limit: number },
): Promise<VolumeRow[]> {
  const { rows } = await sql<VolumeRow>`
    with summed as (
      select source, ${SUMS} from (${daysAndMonths(domainId, range)}) as counted group by source
      having sum(aligned) > 0 or sum(messages) >= ${leastMessages})
    select host(source) as source, ${GROUP} as "group", messages, aligned, a.reverse_name, a.confirmed
    from summed join dmarc_address a on a.address = source and a.asked_at is not null
    order by aligned > 0 desc, messages desc, source limit ${limit}`.execute(db)
  return rows
}

export async function countKnownSenders(db: Db, domainId: string): Promise<number> {
  return countRows(db, 'dmarcKnownSender', { domainId })
}

/** @returns the senders that the domain did not have before */
export async function insertKnownSenders(
  db: Db,
  domainId: string,
  senders: string[],
): Promise<Set<string>> {
  if (senders.length === 0) return new Set()
  const rows = await db
    .insertInto('dmarcKnownSender')
    .values(senders.map((sender) => ({ domainId, sender })))
    .onConflict((conflict) => conflict.doNothing())
    .returning('sender')
    .execute()
  return new Set(rows.map(({ sender }) => sender))
}

export async function markSendersChecked(db: Db, domainId: string, at: Date): Promise<void> {
  await updateRows(db, 'dmarcDomain', { id: domainId }, { sendersCheckedAt: at })
}
