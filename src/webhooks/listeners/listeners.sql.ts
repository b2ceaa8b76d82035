import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { deleteRows, findRow } from '../../store/row.ts'
import type { Header } from '../headers.ts'
import { LISTENER_LEASE_SECONDS } from '../limits.ts'

/** The listener of an endpoint whose lease is not over. */
export type ListenerRow = { id: string; holdSeconds: number; leaseUntil: Date }

export type AnswerRow = {
  status: number
  headers: Header[]
  body: Buffer
  sent: boolean
  at: Date
}

const LEASE = sql<Date>`now() + make_interval(secs => ${LISTENER_LEASE_SECONDS})`

/**
 * Makes a listener the one that answers, unless another one is.
 * @returns false where another one has the lease
 */
export async function acquireListener(
  db: Db,
  endpointId: string,
  { id, holdSeconds }: Pick<ListenerRow, 'id' | 'holdSeconds'>,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into webhook_listener as l (endpoint_id, id, hold_seconds, lease_until)
    values (${endpointId}, ${id}, ${holdSeconds}, ${LEASE})
    on conflict (endpoint_id) do update set
      id = excluded.id, hold_seconds = excluded.hold_seconds, lease_until = excluded.lease_until
    where l.lease_until < now()`.execute(db)
  return numAffectedRows === 1n
}

/** @returns false where it has lost its lease */
export async function renewListener(db: Db, endpointId: string, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhookListener')
    .set({ leaseUntil: LEASE })
    .where('endpointId', '=', endpointId)
    .where('id', '=', id)
    .where('leaseUntil', '>', sql<Date>`now()`)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function removeListener(db: Db, endpointId: string, id: string): Promise<boolean> {
  return deleteRows(db, 'webhookListener', { endpointId, id })
}

export async function findListener(db: Db, endpointId: string): Promise<ListenerRow | undefined> {
  return db
    .selectFrom('webhookListener')
    .select(['id', 'holdSeconds', 'leaseUntil'])
    .where('endpointId', '=', endpointId)
    .where('leaseUntil', '>', sql<Date>`now()`)
    .executeTakeFirst()
}

/** Stores the answer to a request. @returns false where it has one */
export async function insertAnswer(
  db: Db,
  endpointId: string,
  requestId: string,
  { status, headers, body }: Pick<AnswerRow, 'status' | 'headers' | 'body'>,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('webhookAnswer')
    .values({ requestId, endpointId, status, headers: JSON.stringify(headers), body })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

export async function findAnswer(db: Db, requestId: string): Promise<AnswerRow | undefined> {
  return findRow(db, 'webhookAnswer', ['status', 'headers', 'body', 'sent', 'at'], { requestId })
}

/** Records that the sender got an answer, which the list shows as its response. */
export async function markAnswerSent(
  db: Db,
  endpointId: string,
  requestId: string,
  status: number,
): Promise<void> {
  await sql`
    with marked as (
      update webhook_answer set sent = true where request_id = ${requestId} returning request_id)
    update webhook_request r set response_status = ${status}
    from marked where r.endpoint_id = ${endpointId} and r.id = marked.request_id`.execute(db)
}
