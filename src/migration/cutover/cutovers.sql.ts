import { sql, type Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import { insertRow, listRows, lockRow, type Row, updateRows } from '../../store/row.ts'
import { claimDueRows, type DueRows } from '../../store/due-rows.ts'
import type { DB } from '../../store/tables.ts'
import type { ProofLevel } from '../proof/proof-document.ts'
import type { DnsFacts } from './dns-facts.ts'
import { CUTOVER_LIMITS } from './limits.ts'
import type { MxObservation } from './cutover-mx.ts'
import { STEPS, type StepName, type StepRow } from './steps.ts'

const COLUMNS = [
  'id',
  'batchId',
  'workspaceId',
  'domain',
  'expectedMx',
  'targetTtl',
  'quietHours',
  'proofLevel',
  'dns',
  'dnsCheckedAt',
  'highestTtl',
  'lastTtl',
  'ttlLowAt',
  'switchedAt',
  'revertedAt',
  'firstCopyId',
  'lastArrivalAt',
  'finalStartedAt',
  'createdAt',
  'endedAt',
  'outcome',
] as const

export type CutoverRow = Row<
  'migrationCutover',
  typeof COLUMNS,
  DnsFacts & {
    proofLevel: ProofLevel
    dns: MxObservation | null
    outcome: 'done' | 'cancelled' | null
  }
>

type NewCutover = Pick<
  CutoverRow,
  'batchId' | 'workspaceId' | 'domain' | 'expectedMx' | 'targetTtl' | 'quietHours' | 'proofLevel'
> & { createdBy: string }

/** Creates a cut-over whose first step is open. */
export async function insertCutover(db: Db, cutover: NewCutover): Promise<string> {
  const { id } = await insertRow(db, 'migrationCutover', cutover, ['id'])
  const steps = STEPS.map((step, index) => ({
    cutoverId: id,
    step,
    openedAt: index === 0 ? sql<Date>`now()` : null,
  }))
  await db.insertInto('migrationCutoverStep').values(steps).execute()
  return id
}

/** The last cut-over of a batch. */
export async function findCutover(db: Db, batchId: string): Promise<CutoverRow | undefined> {
  const row = await db
    .selectFrom('migrationCutover')
    .select(COLUMNS)
    .where('batchId', '=', batchId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row as CutoverRow | undefined
}

/** Finds a cut-over that has not ended, and locks it until the transaction ends. */
export async function lockCutover(
  db: Transaction<DB>,
  id: string,
): Promise<CutoverRow | undefined> {
  return lockRow(db, 'migrationCutover', COLUMNS, { id, endedAt: null })
}

/** The steps in their order. */
export async function listSteps(db: Db, cutoverId: string): Promise<StepRow[]> {
  const rows = (await listRows(
    db,
    'migrationCutoverStep',
    ['step', 'openedAt', 'closedAt', 'outcome', 'note', 'person'],
    { cutoverId },
  )) as StepRow[]
  return rows.toSorted((a, b) => STEPS.indexOf(a.step) - STEPS.indexOf(b.step))
}

export type Closing = {
  outcome: NonNullable<StepRow['outcome']>
  note: string
  accountId?: string
  person?: string
}

/** Closes a step and opens the next one. */
export async function closeStep(
  db: Db,
  cutoverId: string,
  step: StepName,
  closing: Closing,
): Promise<void> {
  await db
    .updateTable('migrationCutoverStep')
    .set({ closedAt: sql<Date>`clock_timestamp()`, ...closing })
    .where('cutoverId', '=', cutoverId)
    .where('step', '=', step)
    .execute()
  const next = STEPS[STEPS.indexOf(step) + 1]
  if (next === undefined) return
  await db
    .updateTable('migrationCutoverStep')
    .set({ openedAt: sql<Date>`clock_timestamp()` })
    .where('cutoverId', '=', cutoverId)
    .where('step', '=', next)
    .execute()
}

/** Saves what an observation of DNS has shown. */
export async function saveDns(
  db: Db,
  id: string,
  dns: MxObservation,
  facts: DnsFacts,
): Promise<void> {
  const { highestTtl, lastTtl, ttlLowAt, switchedAt, revertedAt } = facts
  await db
    .updateTable('migrationCutover')
    .set({
      dns: JSON.stringify(dns),
      dnsCheckedAt: sql<Date>`now()`,
      highestTtl,
      lastTtl,
      ttlLowAt,
      switchedAt,
      revertedAt,
    })
    .where('id', '=', id)
    .execute()
}

/**
 * Records the time from which messages at the source count as new, unless it is known. Copies that
 * are being saved now have smaller ids than the next ones, but may be committed later.
 */
export async function markSwitched(db: Db, id: string): Promise<void> {
  await sql`update migration_cutover set switched_at = coalesce(switched_at, now()),
    first_copy_id = greatest(0, coalesce((select max(id) from migration_copy), 0) - ${COPIES_IN_FLIGHT})
    where id = ${id} and first_copy_id is null`.execute(db)
}

const COPIES_IN_FLIGHT = 10_000

export async function startFinalPass(db: Db, id: string): Promise<void> {
  await updateRows(db, 'migrationCutover', { id }, { finalStartedAt: sql<Date>`now()` })
}

export async function endCutover(
  db: Db,
  id: string,
  outcome: NonNullable<CutoverRow['outcome']>,
): Promise<void> {
  await db
    .updateTable('migrationCutover')
    .set({ endedAt: sql<Date>`now()`, outcome })
    .where('id', '=', id)
    .where('endedAt', 'is', null)
    .execute()
}

/** Cut-overs whose check is due. */
export const DUE_CUTOVERS: DueRows = {
  table: 'migration_cutover',
  dueAt: 'next_check_at',
  claimedUntil: 'claimed_until',
  leaseSeconds: CUTOVER_LIMITS.leaseSeconds,
  where: sql`r.ended_at is null`,
}

/**
 * Claims cut-overs that are due, accounts in turn. A cut-over of a finished batch is claimed to be
 * ended.
 */
export async function claimDueCutovers(db: Db, limit: number): Promise<CutoverRow[]> {
  return (await claimDueRows<CutoverRow>(DUE_CUTOVERS, { limit }, COLUMNS).execute(db)).rows
}

/** Sets the time of the next check, unless a sooner one was requested meanwhile. */
export async function releaseCutover(db: Db, id: string, claimedAt: Date): Promise<void> {
  await sql`update migration_cutover set claimed_until = null,
    next_check_at = case when next_check_at > ${claimedAt} then next_check_at
      else now() + make_interval(secs => ${CUTOVER_LIMITS.checkSeconds}) end
    where id = ${id}`.execute(db)
}

/** Makes the check of a batch’s cut-over due now. @returns false when it has none */
export async function makeCutoverDue(
  db: Db,
  batchId: string,
  { withDns }: { withDns: boolean },
): Promise<boolean> {
  return updateRows(
    db,
    'migrationCutover',
    { batchId, endedAt: null },
    { nextCheckAt: sql<Date>`clock_timestamp()`, ...(withDns && { dnsCheckedAt: null }) },
  )
}
