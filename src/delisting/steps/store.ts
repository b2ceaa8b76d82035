import { sql } from 'kysely'
import type { Category } from '../../protocols/dnsbl/catalogue.ts'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { loadProcess, type ProcessRow } from '../store.ts'
import type { StepState } from './state-machine.ts'
import type { Answer, NewStep, RemovalPlan } from './plan.ts'

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
  const step = await db
    .selectFrom('delistingStep')
    .select(STEP)
    .where('id', '=', id)
    .executeTakeFirst()
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

/** Claims steps that are due, the longest due first. */
export async function claimDueSteps(
  db: Db,
  now: Date,
  until: Date,
  limit: number,
): Promise<DueStep[]> {
  const { rows } = await sql<DueStep>`
    update delisting_step s set leased_until = ${until}
    from delisting_process p
    where p.id = s.process_id and s.id in (
      select id from delisting_step
      where id in (
        select d.id from (
          select o.id, o.next_at, row_number() over (partition by q.workspace_id order by o.next_at) as turn
          from delisting_step o join delisting_process q on q.id = o.process_id
          where o.next_at <= ${now} and (o.leased_until is null or o.leased_until <= ${now})
            and not ${isInDeletedWorkspace('q.workspace_id')}) d
        order by d.turn, d.next_at limit ${limit})
        and next_at <= ${now} and (leased_until is null or leased_until <= ${now})
      for update skip locked)
    returning s.id, s.zone, p.ip, p.workspace_id`.execute(db)
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
