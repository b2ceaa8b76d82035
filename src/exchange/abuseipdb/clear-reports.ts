import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import type { Ranges } from '../../abuse/ranges/ranges.ts'
import type { Standings } from '../../abuse/reputation/standings.ts'
import { circumstancesOf, toRowChanges } from '../../abuse/scoring/circumstances.ts'
import { countReporters } from '../../abuse/scoring/peer-evidence.ts'
import { assessRest, type TraitsOf } from '../../abuse/scoring/score.ts'
import { lockAddress, saveAddresses, type AddressRow } from '../../abuse/attack-list.sql.ts'
import type { Subject } from '../../abuse/subject.ts'
import { deleteReportsOf, type OwnReports } from './abuseipdb-quotas.sql.ts'

export type ClearDeps = {
  db: Kysely<DB>
  ranges: Ranges
  standings: Standings
  traitsOf: TraitsOf
}

/**
 * Takes the reports of a token about an address back, and with them their evidence. Evidence that
 * others in the same network share stays.
 * @returns the number of reports
 */
export async function clearReports(
  deps: ClearDeps,
  { tokenId, subject }: { tokenId: string; subject: Subject },
  now: number,
): Promise<number> {
  return deps.db.transaction().execute(async (trx) => {
    // Locked first, in the order of the intake.
    const row = await lockAddress(trx, subject.key)
    const own = await deleteReportsOf(trx, { tokenId, address: subject.key })
    if (own.length === 0) return 0
    if (row) await saveAddresses(trx, [withoutReports(row, own, deps, now)])
    return own.reduce((sum, { reports }) => sum + reports, 0)
  })
}

function withoutReports(
  row: AddressRow,
  own: OwnReports[],
  { ranges, standings, traitsOf }: ClearDeps,
  now: number,
): AddressRow {
  const isOwn = (entry: AddressRow['evidence'][number]) =>
    own.some(
      ({ network, service, counted }) =>
        entry.network === network && entry.service === service && counted >= entry.reports,
    )
  const evidence = row.evidence.filter((entry) => !isOwn(entry))
  const known = { bootstrap: standings.isBootstrap(), wellKnown: ranges.isWellKnown(row.address) }
  const result = assessRest(row.state, evidence, circumstancesOf(row, known, now), now, traitsOf)
  const counted = own.reduce((sum, each) => sum + each.counted, 0)
  return {
    ...row,
    evidence,
    ...toRowChanges(row, result),
    services: [...new Set(evidence.map(({ service }) => service))],
    networks: countReporters(evidence),
    totalReports: Math.max(0, row.totalReports - counted),
  }
}
