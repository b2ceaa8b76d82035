import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import { toRowChanges, circumstancesOf } from './circumstances.ts'
import type { Ranges } from '../ranges/ranges.ts'
import { assess, type TraitsOf } from './score.ts'
import type { Standings } from '../reputation/standings.ts'
import { lockDueAddresses, saveAddresses, type AddressRow } from '../attack-list.sql.ts'

export type SweepDeps = { db: Kysely<DB>; ranges: Ranges; standings: Standings; traitsOf: TraitsOf }

const ROWS_PER_GROUP = 500
/** Groups per sweep, so that other work gets its turn. */
const MAX_GROUPS_PER_SWEEP = 20

/** Applies the changes of time alone: scores that faded, listings that ended. */
export async function sweepDue(
  deps: SweepDeps,
  now: number,
  signal?: AbortSignal,
): Promise<number> {
  let swept = 0
  for (let group = 0; group < MAX_GROUPS_PER_SWEEP; group++) {
    if (signal?.aborted) break
    const count = await sweepGroup(deps, now)
    swept += count
    if (count < ROWS_PER_GROUP) break
  }
  return swept
}

async function sweepGroup(deps: SweepDeps, now: number): Promise<number> {
  return deps.db.transaction().execute(async (trx) => {
    const rows = await lockDueAddresses(trx, new Date(now), ROWS_PER_GROUP)
    await saveAddresses(
      trx,
      rows.map((row) => fade(row, deps, now)),
    )
    return rows.length
  })
}

function fade(
  row: AddressRow,
  { ranges, standings, traitsOf }: SweepDeps,
  now: number,
): AddressRow {
  const known = { bootstrap: standings.isBootstrap(), wellKnown: ranges.isWellKnown(row.address) }
  const result = assess(row.state, row.evidence, circumstancesOf(row, known, now), now, traitsOf)
  return { ...row, ...toRowChanges(row, result) }
}
