import type { Kysely } from 'kysely'
import type { DB } from '../store/tables.ts'
import { assess, type TraitsOf } from './score.ts'
import type { Standings } from './reputation/standings.ts'
import { lockDueAddresses, saveAddresses, type AddressRow } from './store.ts'

export type SweepDeps = { db: Kysely<DB>; standings: Standings; traitsOf: TraitsOf }

const AT_ONCE = 500
/** Groups in one go, so that others get their turn. */
const MOST_GROUPS = 20

/** Writes what time alone has changed: scores that faded, listings that ended. */
export async function sweepDue(deps: SweepDeps, now: number, signal?: AbortSignal): Promise<number> {
  let swept = 0
  for (let group = 0; group < MOST_GROUPS; group++) {
    if (signal?.aborted) break
    const count = await sweepGroup(deps, now)
    swept += count
    if (count < AT_ONCE) break
  }
  return swept
}

async function sweepGroup({ db, standings, traitsOf }: SweepDeps, now: number): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const rows = await lockDueAddresses(trx, new Date(now), AT_ONCE)
    await saveAddresses(
      trx,
      rows.map((row) => fade(row, standings.isBootstrap(), now, traitsOf)),
    )
    return rows.length
  })
}

function fade(row: AddressRow, bootstrap: boolean, now: number, traitsOf: TraitsOf): AddressRow {
  const probation = (row.probationUntil?.getTime() ?? 0) > now
  const { state, score, confidence, dueAt } = assess(
    row.state,
    row.evidence,
    { shared: row.shared, probation, bootstrap },
    now,
    traitsOf,
  )
  return {
    ...row,
    state: state === 'none' ? 'observed' : state,
    score,
    confidence,
    dueAt: dueAt === null ? null : new Date(dueAt),
  }
}
