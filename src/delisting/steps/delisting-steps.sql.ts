import { sql } from 'kysely'
import type { Category } from '../../protocols/dnsbl/blocklist-catalogue.ts'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { claimDueRows, type DueRows } from '../../store/due-rows.ts'
import { findRow } from '../../store/row.ts'
import { SECOND_MS } from '../../time.ts'
import { loadProcess, type ProcessRow } from '../delistings.sql.ts'
import type { StepState } from './state-machine.ts'
import type { Answer, NewStep, RemovalPlan } from './plan-steps.ts'
import { LEASE_MS } from './timing.ts'

export type StepRow = StepState & {
  id: string
  processId: string
  rank: number
  zone: string
  name: string
  category: Category
  plan: RemovalPlan
  ownText: string | null
  firstAnswer: Answer
  lastAnswer: Answer
}

const STATE = [
  'status',
  'attempt',
  'outcome',
  'needs',
  'obstacles',
  'request',
  'reminder',
  'confirmed',
  'tries',
  'cleanAt',
  'grace',
  'nextAt',
  'deadlineAt',
  'startedAt',
  'requestedAt',
  'endedAt',
] as const satisfies (keyof StepState)[]

const STEP = [
  'id',
  'processId',
  'rank',
  'zone',
  'name',
  'category',
  'method',
  'plan',
  'ownText',
  'firstAnswer',
  'lastAnswer',
  ...STATE,
] as const

/** A step with the process it belongs to. */
export type StepWithProcess = { process: ProcessRow; step: StepRow }

/** Inserts steps, which are due at once. */
export async function insertSteps(
  db: Db,
  processId: string,
  steps: NewStep[],
  now: Date,
): Promise<void> {
  const rows = steps.map(({ plan, firstAnswer, ...step }) => ({
    ...step,
    processId,
    plan: JSON.stringify(plan),
    firstAnswer: JSON.stringify(firstAnswer),
    lastAnswer: JSON.stringify(firstAnswer),
    nextAt: now,
  }))
  await db.insertInto('delistingStep').values(rows).execute()
}

/** Lists the steps of these processes, in order. */
export async function listSteps(db: Db, processIds: string[]): Promise<StepRow[]> {
  const rows = await db
    .selectFrom('delistingStep')
    .select(STEP)
    .where('processId', '=', sql<string>`any(${processIds}::uuid[])`)
    .orderBy('rank')
    .execute()
  return rows as unknown as StepRow[]
}

export async function findStep(db: Db, id: string): Promise<StepWithProcess | undefined> {
  const step = await findRow(db, 'delistingStep', STEP, { id })
  if (!step) return undefined
  return { process: await loadProcess(db, step.processId), step: step as unknown as StepRow }
}

/** Loads a step, and locks the steps of its process until the transaction ends. */
export async function lockStep(db: Db, id: string): Promise<StepWithProcess | undefined> {
  await db
    .selectFrom('delistingProcess')
    .select('id')
    .where('id', '=', (eb) =>
      eb.selectFrom('delistingStep').select('processId').where('id', '=', id),
    )
    .forUpdate()
    .execute()
  return findStep(db, id)
}

/**
 * Writes the new state of a step.
 * @param lastAnswer the latest answer of the blocklist
 * @param letGo whether the worker releases the step
 */
export async function updateStep(
  db: Db,
  id: string,
  state: StepState & Partial<Pick<StepRow, 'ownText'>>,
  {
    lastAnswer,
    letGo = false,
  }: { lastAnswer?: Answer | undefined; letGo?: boolean | undefined } = {},
): Promise<void> {
  const columns = Object.fromEntries(STATE.map((column) => [column, state[column]]))
  await db
    .updateTable('delistingStep')
    .set({
      ...columns,
      // A user is notified once of a need that stays the same.
      needsTold: sql<boolean>`needs_told and needs is not distinct from ${state.needs}`,
      ...(state.ownText !== undefined && { ownText: state.ownText }),
      ...(lastAnswer && { lastAnswer: JSON.stringify(lastAnswer) }),
      ...(letGo && { leasedUntil: null }),
    })
    .where('id', '=', id)
    .execute()
}

export type DueStep = { id: string; zone: string; ip: string; workspaceId: string }

/** Steps whose next check or action is due, by the clock of the service. */
export const DUE_STEPS: DueRows = {
  table: 'delisting_step',
  dueAt: 'next_at',
  claimedUntil: 'leased_until',
  leaseSeconds: LEASE_MS / SECOND_MS,
  join: sql`join delisting_process p on p.id = r.process_id`,
  workspace: 'p.workspace_id',
}

/** Claims steps that are due, of accounts in turn, the longest due first. */
export async function claimDueSteps(db: Db, now: Date, limit: number): Promise<DueStep[]> {
  const { rows } = await sql<DueStep>`
    with claimed as (${claimDueRows(DUE_STEPS, { now, limit }, ['id', 'zone', 'process_id'])})
    select c.id, c.zone, p.ip, p.workspace_id
    from claimed c join delisting_process p on p.id = c.process_id`.execute(db)
  return rows
}

/** Counts other lists of this process that still list the address and could remove it. */
export async function countOthersOpen(
  db: Db,
  { processId, id }: Pick<StepRow, 'processId' | 'id'>,
): Promise<number> {
  const { count } = await db
    .selectFrom('delistingStep')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('processId', '=', processId)
    .where('id', '<>', id)
    .where('status', 'not in', ['completed', 'failed'])
    .executeTakeFirstOrThrow()
  return count
}

/** Processes with steps that need a person who has not been notified. */
export async function listUnnotified(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('delistingStep')
    .innerJoin('delistingProcess', 'delistingProcess.id', 'processId')
    .select('processId')
    .distinct()
    .where('needs', 'is not', null)
    .where('needsTold', '=', false)
    .where((eb) => eb.not(isInDeletedWorkspace('delistingProcess.workspaceId')))
    .execute()
  return rows.map(({ processId }) => processId)
}

/** Marks the person as notified; none when another instance did. */
export async function claimUnnotified(
  db: Db,
  processId: string,
): Promise<{ process: ProcessRow; steps: StepRow[] }> {
  const rows = await db
    .updateTable('delistingStep')
    .set({ needsTold: true })
    .where('processId', '=', processId)
    .where('needs', 'is not', null)
    .where('needsTold', '=', false)
    .returning(STEP)
    .execute()
  const steps = (rows as unknown as StepRow[]).toSorted((a, b) => a.rank - b.rank)
  return { process: await loadProcess(db, processId), steps }
}

export type StepEventRow = { stepId: string; at: Date; text: string }

export async function insertEvent(db: Db, event: StepEventRow): Promise<void> {
  await db.insertInto('delistingEvent').values(event).execute()
}

/** Lists events, oldest first. */
export async function listStepEvents(db: Db, processId: string): Promise<StepEventRow[]> {
  const rows = await db
    .selectFrom('delistingEvent')
    .innerJoin('delistingStep', 'delistingStep.id', 'stepId')
    .select(['stepId', 'at', 'text'])
    .where('processId', '=', processId)
    .orderBy('delistingEvent.id')
    .execute()
  return rows
}
