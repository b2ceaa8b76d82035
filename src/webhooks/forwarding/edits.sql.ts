import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { countRows } from '../../store/row.ts'
import { MAX_EDITS_PER_ENDPOINT } from '../limits.ts'
import type { EditedFields } from './edit-request.ts'

const COLUMNS = ['deliveryId', 'method', 'path', 'query', 'headers', 'body'] as const

/** Stores what was edited in the request of a delivery. */
export async function insertEdit(
  db: Db,
  { deliveryId, endpointId }: { deliveryId: string; endpointId: string },
  { headers, ...edit }: EditedFields,
): Promise<void> {
  await db
    .insertInto('webhookEdit')
    .values({ deliveryId, endpointId, ...edit, headers: headers && JSON.stringify(headers) })
    .execute()
}

/**
 * Deletes the oldest edits of an endpoint whose delivery has ended, so that there is room for one.
 * @returns false where all that is kept waits
 */
export async function makeRoomForEdit(db: Db, endpointId: string): Promise<boolean> {
  await sql`
    delete from webhook_edit where delivery_id in (
      select e.delivery_id from webhook_edit e join webhook_delivery d on d.id = e.delivery_id
      where e.endpoint_id = ${endpointId} and d.ended_at is not null
      order by e.created_at desc offset ${MAX_EDITS_PER_ENDPOINT - 1})`.execute(db)
  return (await countRows(db, 'webhookEdit', { endpointId })) < MAX_EDITS_PER_ENDPOINT
}

/** Reads what was edited in the requests of these deliveries, by their ids. */
export async function readEdits(
  db: Db,
  deliveryIds: readonly string[],
): Promise<Map<string, EditedFields>> {
  if (deliveryIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('webhookEdit')
    .select(COLUMNS)
    .where('deliveryId', '=', sql<string>`any(${deliveryIds}::uuid[])`)
    .execute()
  return new Map(
    rows.map(({ deliveryId, ...edit }) => [deliveryId, edit as unknown as EditedFields]),
  )
}
