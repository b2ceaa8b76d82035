import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { responsibleFor } from '../../store/responsible.ts'
import type { RequestState } from '../steps/state-machine.ts'
import { ADVISORY_LOCKS } from '../../store/advisory-locks.ts'

export type DelistingRequestRow = {
  stepId: string
  attempt: number
  /** Whether it is a reminder of an earlier request. */
  reminder: boolean
  recipient: string | null
  messageId: string | null
  state: Exclude<RequestState, 'none' | 'due'>
  reply: string | null
  at: Date
}

/** The last request of each of these steps, without reminders. */
export async function listDelistingRequests(
  db: Db,
  stepIds: string[],
): Promise<DelistingRequestRow[]> {
  const rows = await db
    .selectFrom('delistingRequest')
    .select(['stepId', 'attempt', 'reminder', 'recipient', 'messageId', 'state', 'reply', 'at'])
    .distinctOn('stepId')
    .where('stepId', '=', sql<string>`any(${stepIds}::uuid[])`)
    .where('reminder', '=', false)
    .orderBy('stepId')
    .orderBy('attempt', 'desc')
    .execute()
  return rows as unknown as DelistingRequestRow[]
}

export async function insertRequest(
  db: Db,
  row: Omit<DelistingRequestRow, 'reply'> & { ip: string; zone: string },
) {
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
  await query
    .where('stepId', '=', id)
    .where('attempt', '=', attempt)
    .where('reminder', '=', isReminder)
    // A sender that stalled replaces nothing that another one has recorded.
    .where('state', '=', 'claimed')
    .execute()
}

/** Deletes the record of a mail that the relay certainly did not accept. */
export async function deleteRequest(db: Db, { id, attempt, isReminder }: Attempt): Promise<void> {
  await db
    .deleteFrom('delistingRequest')
    .where('stepId', '=', id)
    .where('attempt', '=', attempt)
    .where('reminder', '=', isReminder)
    // A sender that stalled replaces nothing that another one has recorded.
    .where('state', '=', 'claimed')
    .execute()
}

/**
 * Finds the last time that any workspace of this installation requested removal of the address from
 * this blocklist.
 */
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

/** Locks writes to this address until the transaction ends. */
export async function lockRecipient(db: Db, recipient: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.delistingRecipient}, hashtext(${recipient}))`.execute(
    db,
  )
}

/**
 * Counts mails to this address since a time: of all workspaces together, and of the workspace that a
 * process belongs to.
 */
export async function countMails(
  db: Db,
  recipient: string,
  processId: string,
  since: Date,
): Promise<{ all: number; ofAccount: number }> {
  return db
    .selectFrom('delistingRequest as request')
    .leftJoin('delistingStep as step', 'step.id', 'request.stepId')
    .leftJoin('delistingProcess as process', 'process.id', 'step.processId')
    .select((expression) => [
      expression.fn.countAll<number>().as('all'),
      expression.fn
        .countAll<number>()
        .filterWhere(
          responsibleFor('process.workspaceId'),
          '=',
          expression
            .selectFrom('delistingProcess')
            .select(responsibleFor('workspaceId').as('responsibleId'))
            .where('id', '=', processId),
        )
        .as('ofAccount'),
    ])
    .where('request.recipient', '=', recipient)
    .where('request.at', '>', since)
    .executeTakeFirstOrThrow()
}
