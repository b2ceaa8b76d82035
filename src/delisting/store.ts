import { sql, type ExpressionBuilder } from 'kysely'
import type { Category } from '../protocols/dnsbl-catalogue.ts'
import type { Db } from '../store/database.ts'
import type { DB } from '../store/tables.ts'
import type { Standing } from './evidence.ts'
import type { RequestState, StepState } from './machine.ts'
import type { Answer, NewStep, NotPursued, Plan } from './plan.ts'

export const PROCESS_STATUSES = ['pending', 'in-progress', 'completed', 'failed'] as const
export type ProcessStatus = (typeof PROCESS_STATUSES)[number]

export type ProcessRow = {
  id: string
  accountId: string
  ip: string
  status: ProcessStatus
  cause: string | null
  fix: string | null
  relistedAfter: string | null
  askedCount: number
  unknownCount: number
  notPursued: NotPursued[]
  reverseDns: Standing | null
  createdAt: Date
  completedAt: Date | null
  /** The owner's mail address. */
  contact: string
}

export type StepRow = StepState & {
  id: string
  processId: string
  rank: number
  zone: string
  name: string
  category: Category
  plan: Plan
  ownText: string | null
  firstAnswer: Answer
  lastAnswer: Answer
}

export type NewProcess = Pick<
  ProcessRow,
  'accountId' | 'ip' | 'cause' | 'fix' | 'relistedAfter' | 'askedCount' | 'unknownCount' | 'notPursued' | 'createdAt'
>

export type EventRow = { stepId: string; at: Date; text: string }

export type RequestRow = {
  stepId: string
  attempt: number
  /** Of a request that was made before. */
  reminder: boolean
  recipient: string | null
  messageId: string | null
  state: Exclude<RequestState, 'none' | 'due'>
  reply: string | null
  at: Date
}

export type ProcessFilter = { ip?: string | undefined; status?: ProcessStatus | undefined }

const PROCESS = [
  'delistingProcess.id',
  'accountId',
  'ip',
  'status',
  'cause',
  'fix',
  'relistedAfter',
  'askedCount',
  'unknownCount',
  'notPursued',
  'reverseDns',
  'delistingProcess.createdAt',
  'completedAt',
  'account.email as contact',
] as const

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

/** Nobody else begins or reopens a process of this account until the transaction ends. */
export async function lockAccount(db: Db, accountId: string): Promise<void> {
  await db.selectFrom('account').select('id').where('id', '=', accountId).forUpdate().execute()
}

/** The process that deals with this address now. */
export async function findOpenProcess(db: Db, accountId: string, ip: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('delistingProcess')
    .select('id')
    .where('accountId', '=', accountId)
    .where('ip', '=', ip)
    .where('status', 'in', ['pending', 'in-progress'])
    .executeTakeFirst()
  return row?.id
}

export async function countOpenProcesses(db: Db, accountId: string): Promise<number> {
  const { count } = await db
    .selectFrom('delistingProcess')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('accountId', '=', accountId)
    .where('status', 'in', ['pending', 'in-progress'])
    .executeTakeFirstOrThrow()
  return count
}

/** The last process that cleared this address since then. */
export async function findCleared(db: Db, accountId: string, ip: string, since: Date): Promise<string | null> {
  const row = await db
    .selectFrom('delistingProcess')
    .select('id')
    .where('accountId', '=', accountId)
    .where('ip', '=', ip)
    .where('status', '=', 'completed')
    .where('completedAt', '>=', since)
    .orderBy('completedAt', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id ?? null
}

/** Its steps are due at once. */
export async function insertProcess(db: Db, process: NewProcess, steps: NewStep[]): Promise<string> {
  const { id } = await db
    .insertInto('delistingProcess')
    .values({ ...process, notPursued: JSON.stringify(process.notPursued) })
    .returning('id')
    .executeTakeFirstOrThrow()
  const rows = steps.map(({ plan, firstAnswer, ...step }) => ({
    ...step,
    processId: id,
    plan: JSON.stringify(plan),
    firstAnswer: JSON.stringify(firstAnswer),
    lastAnswer: JSON.stringify(firstAnswer),
    nextAt: process.createdAt,
  }))
  await db.insertInto('delistingStep').values(rows).execute()
  return id
}

function selectProcesses(db: Db) {
  return db.selectFrom('delistingProcess').innerJoin('account', 'account.id', 'accountId').select(PROCESS)
}

export async function findProcess(db: Db, accountId: string, id: string): Promise<ProcessRow | undefined> {
  const mine = selectProcesses(db).where('delistingProcess.id', '=', id).where('accountId', '=', accountId)
  return (await mine.executeTakeFirst()) as ProcessRow | undefined
}

/** Newest first. */
export async function listProcesses(
  db: Db,
  accountId: string,
  filter: ProcessFilter,
  page: { limit: number; offset: number },
): Promise<ProcessRow[]> {
  const rows = await selectProcesses(db)
    .where((eb) => eb.and(conditions(eb, accountId, filter)))
    .orderBy('delistingProcess.id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute()
  return rows as unknown as ProcessRow[]
}

export async function countProcesses(db: Db, accountId: string, filter: ProcessFilter): Promise<number> {
  const { count } = await db
    .selectFrom('delistingProcess')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where((eb) => eb.and(conditions(eb, accountId, filter)))
    .executeTakeFirstOrThrow()
  return count
}

function conditions(eb: ExpressionBuilder<DB, 'delistingProcess'>, accountId: string, { ip, status }: ProcessFilter) {
  return [
    eb('accountId', '=', accountId),
    ...(ip === undefined ? [] : [eb('ip', '=', ip)]),
    ...(status === undefined ? [] : [eb('status', '=', status)]),
  ]
}

/** The steps of these processes, each in its order. */
export async function listSteps(db: Db, processIds: string[]): Promise<StepRow[]> {
  const rows = await db
    .selectFrom('delistingStep')
    .select(STEP)
    .where('processId', '=', sql<string>`any(${processIds}::uuid[])`)
    .orderBy('rank')
    .execute()
  return rows as unknown as StepRow[]
}

export async function findStep(db: Db, id: string): Promise<{ process: ProcessRow; step: StepRow } | undefined> {
  const step = await db.selectFrom('delistingStep').select(STEP).where('id', '=', id).executeTakeFirst()
  if (!step) return undefined
  const process = await selectProcesses(db).where('delistingProcess.id', '=', step.processId).executeTakeFirstOrThrow()
  return { process: process as unknown as ProcessRow, step: step as unknown as StepRow }
}

/** The same, and nobody else changes a step of this process until the transaction ends. */
export async function lockStep(db: Db, id: string): Promise<{ process: ProcessRow; step: StepRow } | undefined> {
  await db
    .selectFrom('delistingProcess')
    .select('id')
    .where('id', '=', (eb) => eb.selectFrom('delistingStep').select('processId').where('id', '=', id))
    .forUpdate()
    .execute()
  return findStep(db, id)
}

/**
 * Writes what became of a step.
 * @param lastAnswer what the list answered just now
 * @param letGo the worker is done with it
 */
export async function updateStep(
  db: Db,
  id: string,
  state: StepState & Partial<Pick<StepRow, 'ownText'>>,
  { lastAnswer, letGo = false }: { lastAnswer?: Answer | undefined; letGo?: boolean | undefined } = {},
): Promise<void> {
  const columns = Object.fromEntries(STATE.map((column) => [column, state[column]]))
  await db
    .updateTable('delistingStep')
    .set({
      ...columns,
      // What is asked for again and again is told once.
      needsTold: sql<boolean>`needs_told and needs is not distinct from ${state.needs}`,
      ...(state.ownText !== undefined && { ownText: state.ownText }),
      ...(lastAnswer && { lastAnswer: JSON.stringify(lastAnswer) }),
      ...(letGo && { leasedUntil: null }),
    })
    .where('id', '=', id)
    .execute()
}

/**
 * Makes the status of a process what its steps say.
 * @returns the new status; null when it stays
 */
export async function refreshProcess(db: Db, id: string, now: Date): Promise<ProcessStatus | null> {
  const { rows } = await sql<{ status: ProcessStatus }>`
    update delisting_process p set status = said.status,
      completed_at = case when said.status in ('completed', 'failed') then ${now}::timestamptz end
    from (
      select case
        when bool_and(status = 'pending') then 'pending'
        when bool_or(status not in ('completed', 'failed')) then 'in-progress'
        when bool_or(status = 'failed') then 'failed'
        else 'completed' end as status
      from delisting_step where process_id = ${id}
    ) said
    where p.id = ${id} and p.status <> said.status
    returning p.status`.execute(db)
  return rows[0]?.status ?? null
}

export async function updateWords(db: Db, id: string, words: Pick<ProcessRow, 'cause' | 'fix'>): Promise<void> {
  await db.updateTable('delistingProcess').set(words).where('id', '=', id).execute()
}

export async function updateReverse(db: Db, ip: string, reverse: Standing): Promise<void> {
  await db
    .updateTable('delistingProcess')
    .set({ reverseDns: JSON.stringify(reverse) })
    .where('ip', '=', ip)
    .where('status', 'in', ['pending', 'in-progress'])
    .execute()
}

export type Due = { id: string; zone: string; ip: string }

/** Takes steps that are due, for nobody else until then; the longest due first. */
export async function claimDue(db: Db, now: Date, until: Date, limit: number): Promise<Due[]> {
  const { rows } = await sql<Due>`
    update delisting_step s set leased_until = ${until}
    from delisting_process p
    where p.id = s.process_id and s.id in (
      select id from delisting_step
      where next_at <= ${now} and (leased_until is null or leased_until <= ${now})
      order by next_at limit ${limit} for update skip locked)
    returning s.id, s.zone, p.ip`.execute(db)
  return rows
}

/** How many other lists of this process still have the address and could let it go. */
export async function countOthersOpen(db: Db, { processId, id }: Pick<StepRow, 'processId' | 'id'>): Promise<number> {
  const { count } = await db
    .selectFrom('delistingStep')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('processId', '=', processId)
    .where('id', '<>', id)
    .where('status', 'not in', ['completed', 'failed'])
    .executeTakeFirstOrThrow()
  return count
}

export async function insertEvent(db: Db, event: EventRow): Promise<void> {
  await db.insertInto('delistingEvent').values(event).execute()
}

/** In the order in which they happened. */
export async function listEvents(db: Db, processId: string): Promise<EventRow[]> {
  const rows = await db
    .selectFrom('delistingEvent')
    .innerJoin('delistingStep', 'delistingStep.id', 'stepId')
    .select(['stepId', 'at', 'text'])
    .where('processId', '=', processId)
    .orderBy('delistingEvent.id')
    .execute()
  return rows
}

/** The last request of each of these steps, reminders apart. */
export async function listRequests(db: Db, stepIds: string[]): Promise<RequestRow[]> {
  const rows = await db
    .selectFrom('delistingRequest')
    .select(['stepId', 'attempt', 'reminder', 'recipient', 'messageId', 'state', 'reply', 'at'])
    .distinctOn('stepId')
    .where('stepId', '=', sql<string>`any(${stepIds}::uuid[])`)
    .where('reminder', '=', false)
    .orderBy('stepId')
    .orderBy('attempt', 'desc')
    .execute()
  return rows as unknown as RequestRow[]
}

export async function insertRequest(db: Db, row: Omit<RequestRow, 'reply'> & { ip: string; zone: string }) {
  await db.insertInto('delistingRequest').values(row).execute()
}

/** One mail of a step. */
export type Attempt = { id: string; attempt: number; isReminder: boolean }

export async function markRequest(
  db: Db,
  { id, attempt, isReminder }: Attempt,
  state: 'made' | 'unsure',
  reply: string | null = null,
): Promise<void> {
  const query = db.updateTable('delistingRequest').set({ state, reply })
  await query.where('stepId', '=', id).where('attempt', '=', attempt).where('reminder', '=', isReminder).execute()
}

/** Of a mail that was certainly not taken. */
export async function deleteRequest(db: Db, { id, attempt, isReminder }: Attempt): Promise<void> {
  await db
    .deleteFrom('delistingRequest')
    .where('stepId', '=', id)
    .where('attempt', '=', attempt)
    .where('reminder', '=', isReminder)
    .execute()
}

/** When anybody of this installation asked this list to let the address go for the last time. */
export async function findLastRequest(db: Db, ip: string, zone: string): Promise<Date | null> {
  const row = await db
    .selectFrom('delistingRequest')
    .select('at')
    .where('ip', '=', ip)
    .where('zone', '=', zone)
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.at ?? null
}

/** Namespace of the locks behind which mails to one address are counted. */
const RECIPIENT_LOCK = 7_402_170

/** Nobody else writes to this address until the transaction ends. */
export async function lockRecipient(db: Db, recipient: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${RECIPIENT_LOCK}, hashtext(${recipient}))`.execute(db)
}

/** Mails to this address since then, of all accounts together. */
export async function countMails(db: Db, recipient: string, since: Date): Promise<number> {
  const { count } = await db
    .selectFrom('delistingRequest')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('recipient', '=', recipient)
    .where('at', '>', since)
    .executeTakeFirstOrThrow()
  return count
}

/** Processes with steps that wait for a person who was not told. */
export async function listUntold(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('delistingStep')
    .select('processId')
    .distinct()
    .where('needs', 'is not', null)
    .where('needsTold', '=', false)
    .execute()
  return rows.map(({ processId }) => processId)
}

/** Marks what waits for a person as told; none when somebody else did. */
export async function claimUntold(db: Db, processId: string): Promise<{ process: ProcessRow; steps: StepRow[] }> {
  const rows = await db
    .updateTable('delistingStep')
    .set({ needsTold: true })
    .where('processId', '=', processId)
    .where('needs', 'is not', null)
    .where('needsTold', '=', false)
    .returning(STEP)
    .execute()
  const process = await selectProcesses(db).where('delistingProcess.id', '=', processId).executeTakeFirstOrThrow()
  const steps = (rows as unknown as StepRow[]).toSorted((a, b) => a.rank - b.rank)
  return { process: process as unknown as ProcessRow, steps }
}
