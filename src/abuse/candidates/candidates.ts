import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import { refute } from '../appeals/appeals.ts'
import { toRowChanges, circumstancesOf } from '../scoring/circumstances.ts'
import type { Ranges } from '../ranges/ranges.ts'
import type { Standings } from '../reputation/standings.ts'
import { assess, KNOWN_ORIGIN, LONGEST_LISTING_MS, type TraitsOf } from '../scoring/score.ts'
import { lockAddress, saveAddresses, type AddressRow } from '../attack-list.sql.ts'
import type { Subject } from '../subject.ts'
import { countCandidates, listCandidates } from './candidates.sql.ts'

export type CandidateDeps = {
  db: Kysely<DB>
  ranges: Ranges
  standings: Standings
  traitsOf: TraitsOf
}

/** Why an address is not listed by the reports alone. */
type Reason = 'well_known' | 'appealed' | 'unknown_operators'

/** The facts that an administrator needs to confirm a listing. */
export type Candidate = {
  address: string
  reason: Reason
  reports: number
  networks: number
  /** Operators of networks that report, as far as they are known. */
  operators: number
  services: string[]
  firstReportedAt: Date
  lastReportedAt: Date
}

const recently = (now: number) => new Date(now - LONGEST_LISTING_MS)

/** Counts the addresses that wait for confirmation. */
export const countAwaiting = (db: Db, now: number) => countCandidates(db, recently(now))

/**
 * Lists addresses with enough evidence for the list whose reporters may be machines of one person.
 */
export async function readCandidates(
  { db, ranges }: CandidateDeps,
  page: { limit: number; offset: number },
  now: number,
): Promise<{ candidates: Candidate[]; total: number }> {
  const total = await countAwaiting(db, now)
  const rows = await listCandidates(db, recently(now), page)
  return { total, candidates: rows.map((row) => candidateOf(row, ranges, now)) }
}

function candidateOf(row: AddressRow, ranges: Ranges, now: number): Candidate {
  const {
    address,
    networks,
    services,
    totalReports: reports,
    firstReportedAt,
    lastReportedAt,
  } = row
  const origins = new Set(
    row.evidence.map(({ origin }) => origin).filter((origin) => origin.startsWith(KNOWN_ORIGIN)),
  )
  const isAppealed = (row.probationUntil?.getTime() ?? 0) > now
  const reason = ranges.isWellKnown(address)
    ? 'well_known'
    : isAppealed
      ? 'appealed'
      : 'unknown_operators'
  return {
    address,
    reason,
    reports,
    networks,
    operators: origins.size,
    services,
    firstReportedAt,
    lastReportedAt,
  }
}

/**
 * Confirms the listing of a candidate, or deletes its evidence at the cost of the networks that
 * reported it.
 * @throws Fault `conflict` when it is no candidate any more
 */
export async function decideCandidate(
  deps: CandidateDeps,
  { subject, list }: { subject: Subject; list: boolean },
  now: number,
): Promise<void> {
  await deps.db.transaction().execute(async (trx) => {
    const row = await lockAddress(trx, subject.key)
    if (row?.confirmation !== 'awaiting')
      throw new Fault('conflict', `${subject.ip} is not waiting for a decision.`)
    if (list) await confirm(trx, row, deps, now)
    else await refute(trx, row, now)
  })
}

async function confirm(
  trx: Transaction<DB>,
  row: AddressRow,
  deps: CandidateDeps,
  now: number,
): Promise<void> {
  const { ranges, standings, traitsOf } = deps
  const confirmed: AddressRow = { ...row, confirmation: 'confirmed' }
  const known = { bootstrap: standings.isBootstrap(), wellKnown: ranges.isWellKnown(row.address) }
  const result = assess(
    row.state,
    row.evidence,
    circumstancesOf(confirmed, known, now),
    now,
    traitsOf,
  )
  if (result.state !== 'listed')
    throw new Fault(
      'conflict',
      `The evidence against ${row.address} has faded; it can no longer be listed.`,
    )
  await saveAddresses(trx, [{ ...confirmed, ...toRowChanges(confirmed, result) }])
}
