import { sql, type ExpressionBuilder } from 'kysely'
import { boundedOf } from '../store/bounded.ts'
import type { Db } from '../store/database.ts'
import { lockRow, type Row } from '../store/row.ts'
import { orderTerm, type Order } from '../store/order.ts'
import type { DB } from '../store/tables.ts'
import type { ReverseDnsEvidence } from './evidence.ts'
import type { NotPursued } from './steps/plan-steps.ts'

export const PROCESS_STATUSES = ['pending', 'in-progress', 'completed', 'failed'] as const
export type ProcessStatus = (typeof PROCESS_STATUSES)[number]

/** The states of a delisting in progress. */
const OPEN: ProcessStatus[] = ['pending', 'in-progress']

const PROCESS = [
  'delistingProcess.id',
  'delistingProcess.workspaceId',
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
  'workspaceContact.email as contact',
  'workspaceContact.emailVerified as contactVerified',
] as const

export type ProcessRow = Row<
  'delistingProcess' | 'workspaceContact',
  typeof PROCESS,
  {
    status: ProcessStatus
    notPursued: NotPursued[]
    reverseDns: ReverseDnsEvidence | null
    /** The owner’s email address, and whether it is verified. */
    contact: string
    contactVerified: boolean
  }
>

export type NewProcess = Pick<
  ProcessRow,
  | 'workspaceId'
  | 'ip'
  | 'cause'
  | 'fix'
  | 'relistedAfter'
  | 'askedCount'
  | 'unknownCount'
  | 'notPursued'
  | 'createdAt'
>

export type ProcessFilter = { ip?: string | undefined; status?: ProcessStatus | undefined }

/** Locks the workspace, so that no other process starts or is reopened until the transaction ends. */
export async function lockWorkspace(db: Db, workspaceId: string): Promise<void> {
  await lockRow(db, 'workspace', ['id'], { id: workspaceId })
}

/** Finds the delisting of this address that is in progress. */
export async function findOpenProcess(
  db: Db,
  workspaceId: string,
  ip: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('delistingProcess')
    .select('id')
    .where('workspaceId', '=', workspaceId)
    .where('ip', '=', ip)
    .where('status', 'in', OPEN)
    .executeTakeFirst()
  return row?.id
}

export async function countOpenProcesses(db: Db, workspaceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('delistingProcess')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspaceId', '=', workspaceId)
    .where('status', 'in', OPEN)
    .executeTakeFirstOrThrow()
  return count
}

/** A delisting in progress, and how many of its steps need the user’s action. */
export type OpenDelisting = Pick<ProcessRow, 'id' | 'ip'> & { steps: number }

export type OpenDelistings = { rows: OpenDelisting[]; /** All that wait for the user. */ waiting: number } // prettier-ignore

/** Lists the delistings in progress: those that wait for the user first, then the newest. */
export async function listOpenDelistings(
  db: Db,
  workspaceId: string,
  limit: number,
): Promise<OpenDelistings> {
  const found = await sql<OpenDelisting & { total: number }>`
    select id, ip, steps, (count(*) filter (where steps > 0) over ())::int as total from (
      select p.id, host(p.ip) as ip, (
        select count(*)::int from delisting_step s where s.process_id = p.id and s.needs is not null) as steps
      from delisting_process p where p.workspace_id = ${workspaceId} and p.status = any(${OPEN})) process
    order by steps > 0 desc, id desc limit ${limit}`.execute(db)
  const { rows, total } = boundedOf(found.rows)
  return { rows, waiting: total }
}

export type AddressDelisting = Pick<ProcessRow, 'id' | 'status' | 'createdAt' | 'completedAt'>

/** Lists the latest delistings of addresses, from the first to the last one, newest first. */
export async function listDelistingsOf(
  db: Db,
  workspaceId: string,
  { first, last }: { first: string; last: string },
): Promise<AddressDelisting[]> {
  const { rows } = await sql<AddressDelisting>`
    select id, status, created_at, completed_at from delisting_process
    where workspace_id = ${workspaceId} and ip::inet between ${first}::inet and ${last}::inet
    order by id desc limit 10`.execute(db)
  return rows
}

/** Finds the last completed delisting of this address since a time. */
export async function findCleared(
  db: Db,
  workspaceId: string,
  ip: string,
  since: Date,
): Promise<string | null> {
  const row = await db
    .selectFrom('delistingProcess')
    .select('id')
    .where('workspaceId', '=', workspaceId)
    .where('ip', '=', ip)
    .where('status', '=', 'completed')
    .where('completedAt', '>=', since)
    .orderBy('completedAt', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id ?? null
}

export async function insertProcess(db: Db, process: NewProcess): Promise<string> {
  const { id } = await db
    .insertInto('delistingProcess')
    .values({ ...process, notPursued: JSON.stringify(process.notPursued) })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

function selectProcesses(db: Db) {
  return db
    .selectFrom('delistingProcess')
    .innerJoin('workspaceContact', 'workspaceContact.workspaceId', 'delistingProcess.workspaceId')
    .select(PROCESS)
}

/** Loads a process of any workspace. */
export async function loadProcess(db: Db, id: string): Promise<ProcessRow> {
  const row = await selectProcesses(db)
    .where('delistingProcess.id', '=', id)
    .executeTakeFirstOrThrow()
  return row as unknown as ProcessRow
}

export async function findProcess(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<ProcessRow | undefined> {
  const mine = selectProcesses(db)
    .where('delistingProcess.id', '=', id)
    .where('delistingProcess.workspaceId', '=', workspaceId)
  return (await mine.executeTakeFirst()) as ProcessRow | undefined
}

export const PROCESS_ORDERS = ['createdAt', 'ip', 'status', 'stepsCompleted'] as const
export type ProcessOrder = Order<(typeof PROCESS_ORDERS)[number]>

const ORDER_COLUMNS = {
  createdAt: sql`delisting_process.id`,
  ip: sql`delisting_process.ip`,
  status: sql`delisting_process.status`,
  stepsCompleted: sql`(select count(*) from delisting_step s where s.process_id = delisting_process.id and s.status = 'completed')`,
}

/** Lists processes, newest first unless ordered otherwise. */
export async function listProcesses(
  db: Db,
  workspaceId: string,
  { order = '-createdAt', ...filter }: ProcessFilter & { order?: ProcessOrder | undefined },
  page: { limit: number; offset: number },
): Promise<ProcessRow[]> {
  const rows = await selectProcesses(db)
    .where((eb) => eb.and(conditions(eb, workspaceId, filter)))
    .orderBy(orderTerm(order, ORDER_COLUMNS))
    .orderBy('delistingProcess.id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute()
  return rows as unknown as ProcessRow[]
}

export async function countProcesses(
  db: Db,
  workspaceId: string,
  filter: ProcessFilter,
): Promise<number> {
  const { count } = await db
    .selectFrom('delistingProcess')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where((eb) => eb.and(conditions(eb, workspaceId, filter)))
    .executeTakeFirstOrThrow()
  return count
}

function conditions(
  eb: ExpressionBuilder<DB, 'delistingProcess'>,
  workspaceId: string,
  { ip, status }: ProcessFilter,
) {
  return [
    eb('delistingProcess.workspaceId', '=', workspaceId),
    ...(ip === undefined ? [] : [eb('ip', '=', ip)]),
    ...(status === undefined ? [] : [eb('status', '=', status)]),
  ]
}

/**
 * Sets the status of a process from its steps.
 * @returns the new status; null when it is unchanged
 */
export async function refreshProcessStatus(
  db: Db,
  id: string,
  now: Date,
): Promise<ProcessStatus | null> {
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

export async function updateCauseAndFix(
  db: Db,
  id: string,
  words: Partial<Pick<ProcessRow, 'cause' | 'fix'>>,
): Promise<void> {
  await db.updateTable('delistingProcess').set(words).where('id', '=', id).execute()
}

export async function updateReverseDns(
  db: Db,
  ip: string,
  reverse: ReverseDnsEvidence,
): Promise<void> {
  await db
    .updateTable('delistingProcess')
    .set({ reverseDns: JSON.stringify(reverse) })
    .where('ip', '=', ip)
    .where('status', 'in', OPEN)
    .execute()
}
