import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { countRows, deleteRows, listRows } from '../../store/row.ts'
import {
  daysAndMonths,
  GROUP,
  SUMS,
  type DayRange,
  type SourceRow,
} from '../summary/dmarc-summary.sql.ts'
import type { SenderMark } from './senders.ts'

/** The marks of a domain’s senders, by the sender’s id. */
export async function listMarks(db: Db, domainId: string): Promise<Map<string, SenderMark>> {
  const rows = await listRows(db, 'dmarcSenderMark', ['sender', 'mark'], { domainId })
  return new Map(rows.map(({ sender, mark }) => [sender, mark as SenderMark]))
}

export async function countMarks(db: Db, domainId: string): Promise<number> {
  return countRows(db, 'dmarcSenderMark', { domainId })
}

/** Sets the mark of a sender. */
export async function saveMark(
  db: Db,
  { domainId, sender, mark }: { domainId: string; sender: string; mark: SenderMark },
): Promise<void> {
  await db
    .insertInto('dmarcSenderMark')
    .values({ domainId, sender, mark })
    .onConflict((conflict) =>
      conflict.columns(['domainId', 'sender']).doUpdateSet({ mark, markedAt: new Date() }),
    )
    .execute()
}

export async function deleteMark(db: Db, domainId: string, sender: string): Promise<void> {
  await deleteRows(db, 'dmarcSenderMark', { domainId, sender })
}

export type VolumeRow = Pick<
  SourceRow,
  'source' | 'group' | 'reverseName' | 'confirmed' | 'messages' | 'aligned'
>

/** The sources with most messages, and their names. */
export async function listSourcesByVolume(
  db: Db,
  domainId: string,
  range: DayRange,
  limit: number,
): Promise<VolumeRow[]> {
  const { rows } = await sql<VolumeRow>`
    with summed as (
      select source, ${SUMS} from (${daysAndMonths(domainId, range)}) as counted group by source
      order by messages desc, source limit ${limit})
    select host(source) as source, ${GROUP} as "group", messages, aligned, a.reverse_name,
      coalesce(a.confirmed, false) as confirmed
    from summed left join dmarc_address a on a.address = source
    order by messages desc, source`.execute(db)
  return rows
}

/** The counts of one sender on one day; days without messages are missing. */
export type SenderDayRow = { day: string; sender: string; messages: number; pass: number }

/**
 * Sums sources by sender and day, in order. Looks up each day and source in the index, because a
 * domain may have a million other addresses per day.
 */
export async function sumSendersByDay(
  db: Db,
  domainId: string,
  sources: { source: string; sender: string }[],
  days: string[],
): Promise<SenderDayRow[]> {
  const { rows } = await sql<SenderDayRow>`
    select seen.day, given.sender, sum(seen.messages)::bigint as messages, sum(seen.aligned)::bigint as pass
    from json_to_recordset(${JSON.stringify(sources)}::json) as given (source inet, sender text)
    cross join unnest(${days}::date[]) as asked (at)
    cross join lateral (
      select day, messages, aligned from dmarc_source_day s
      where s.domain_id = ${domainId} and s.day = asked.at and s.source = given.source offset 0) as seen
    group by seen.day, given.sender order by seen.day, given.sender`.execute(db)
  return rows
}
