import type { Db } from '../../store/database.ts'
import { restored, type AddressRow } from '../attack-list.sql.ts'

/** Lists the candidates for an administrator, those that most networks reported first. */
export async function listCandidates(
  db: Db,
  since: Date,
  page: { limit: number; offset: number },
): Promise<AddressRow[]> {
  const rows = candidates(db, since).selectAll().orderBy('networks', 'desc').orderBy('address')
  return (await rows.limit(page.limit).offset(page.offset).execute()).map(restored)
}

export async function countCandidates(db: Db, since: Date): Promise<number> {
  const count = candidates(db, since).select(({ fn }) => fn.countAll<number>().as('count'))
  return (await count.executeTakeFirstOrThrow()).count
}

/** Addresses without a report since then cannot be listed any more. */
function candidates(db: Db, since: Date) {
  return db
    .selectFrom('abuseAddress')
    .where('confirmation', '=', 'awaiting')
    .where('state', 'in', ['observed', 'watchlist', 'delisted'])
    .where('lastReportedAt', '>', since)
}
