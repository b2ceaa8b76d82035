import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Db } from '../../../store/database.ts'
import { containsWords, orderTerm, type Order } from '../../../store/order.ts'
import type { AccountAddress } from '../../migrations.sql.ts'
import type { MailboxState } from '../batches.sql.ts'
import { deleteRows, findRow, listRows, type Row } from '../../../store/row.ts'

export type Pass = 'dry_run' | 'sync'

const COLUMNS = [
  'id',
  'batchId',
  'line',
  'state',
  'source',
  'destination',
  'pass',
  'verified',
  'problem',
  'problemHost',
  'message',
  'warning',
  'dryRunId',
  'migrationId',
  'activeId',
  'messagesDone',
  'messagesTotal',
  'bytesDone',
  'bytesTotal',
  'messagesPerSecond',
  'bytesPerSecond',
  'errorCount',
  'passes',
  'syncedAt',
  'changedAt',
] as const

export type MailboxRow = Row<
  'batchMailbox',
  typeof COLUMNS,
  {
    state: MailboxState
    source: Partial<AccountAddress>
    destination: Partial<AccountAddress>
    pass: Pass
  }
>

/** `now()` would be the start of the transaction, before changes that were already sent. */
export const NOW = sql<Date>`clock_timestamp()`

export type NewMailbox = Pick<
  MailboxRow,
  'id' | 'line' | 'source' | 'destination' | 'message' | 'warning'
> & { sealed: string }

/** Rows of one statement: PostgreSQL takes up to 65,535 parameters. */
const ROWS_PER_INSERT = 1_000

/** Inserts mailboxes with their passwords; those with a message are invalid. */
export async function insertMailboxes(
  db: Db,
  batchId: string,
  mailboxes: readonly NewMailbox[],
): Promise<void> {
  for (let at = 0; at < mailboxes.length; at += ROWS_PER_INSERT) {
    const part = mailboxes.slice(at, at + ROWS_PER_INSERT)
    const rows = part.map(({ sealed: _sealed, source, destination, message, ...rest }) => ({
      ...rest,
      batchId,
      message,
      problem: message === null ? null : 'invalid',
      state: message === null ? stateOf({ source, destination }) : 'invalid',
      source: JSON.stringify(source),
      destination: JSON.stringify(destination),
    }))
    await db.insertInto('batchMailbox').values(rows).execute()
    await db
      .insertInto('batchMailboxSecret')
      .values(part.map(({ id, sealed }) => ({ mailboxId: id, sealed })))
      .execute()
  }
}

/** The state of a mailbox without problems that was not queued. */
export function stateOf({
  source,
  destination,
}: Pick<MailboxRow, 'source' | 'destination'>): 'waiting_for_owner' | 'ready' {
  return source.waitsForOwner || destination.waitsForOwner ? 'waiting_for_owner' : 'ready'
}

/** The accounts of a batch, with the line of each. */
export async function listAccounts(
  db: Db,
  batchId: string,
): Promise<Pick<MailboxRow, 'id' | 'line' | 'state' | 'source' | 'destination'>[]> {
  return listRows(
    db,
    'batchMailbox',
    ['id', 'line', 'state', 'source', 'destination'],
    { batchId },
    'position',
  )
}

export type MailboxFilter = {
  state?: MailboxState | undefined
  problem?: string | undefined
  host?: string | undefined
  q?: string | undefined
}

function isFound(batchId: string, filter: MailboxFilter): RawBuilder<SqlBool> {
  const { state, problem, host, q = '' } = filter
  return sql`batch_id = ${batchId}
    and (${state ?? null}::text is null or state = ${state ?? null})
    and (${problem ?? null}::text is null or (problem = ${problem ?? null} and state in ('invalid', 'needs_attention')))
    and (${host ?? null}::text is null or problem_host = ${host ?? null})
    and ${containsWords(q, sql`concat_ws(' ', source_user, source_host, destination_user, destination_host, message)`)}`
}

export const MAILBOX_ORDERS = [
  'line',
  'sourceUser',
  'state',
  'messages',
  'bytes',
  'errors',
] as const
export type MailboxOrder = Order<(typeof MAILBOX_ORDERS)[number]>

const ORDER_COLUMNS = {
  line: sql`position`,
  sourceUser: sql`source_user`,
  state: sql`state`,
  messages: sql`messages_total`,
  bytes: sql`coalesce(bytes_total, bytes_done)`,
  errors: sql`error_count`,
}

/** Lists mailboxes of a batch, in the order of their lines unless ordered otherwise. */
export async function listMailboxes(
  db: Db,
  batchId: string,
  { order = 'line', ...filter }: MailboxFilter & { order?: MailboxOrder | undefined },
  page: { limit: number; offset: number },
): Promise<{ rows: MailboxRow[]; total: number }> {
  const { total } = await db
    .selectFrom('batchMailbox')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where(isFound(batchId, filter))
    .executeTakeFirstOrThrow()
  const rows = await db
    .selectFrom('batchMailbox')
    .select(COLUMNS)
    .where(isFound(batchId, filter))
    .orderBy(orderTerm(order, ORDER_COLUMNS))
    .orderBy('position')
    .limit(page.limit)
    .offset(page.offset)
    .execute()
  return { rows: rows as MailboxRow[], total }
}

/** Lists mailboxes that changed after a time, up to a number of them. */
export async function listChanged(
  db: Db,
  batchId: string,
  since: Date,
  limit: number,
): Promise<MailboxRow[]> {
  const rows = await db
    .selectFrom('batchMailbox')
    .select(COLUMNS)
    .where('batchId', '=', batchId)
    .where('changedAt', '>', since)
    .orderBy('changedAt', 'desc')
    .orderBy('position', 'desc')
    .limit(limit)
    .execute()
  return rows as MailboxRow[]
}

export async function findMailbox(
  db: Db,
  batchId: string,
  id: string,
): Promise<MailboxRow | undefined> {
  return findRow(db, 'batchMailbox', COLUMNS, { batchId, id })
}

/** Finds a mailbox with its encrypted passwords, and locks it. Null when they were deleted. */
export async function lockMailbox(
  db: Db,
  batchId: string,
  id: string,
): Promise<(MailboxRow & { sealed: string | null }) | undefined> {
  const row = await db
    .selectFrom('batchMailbox')
    .leftJoin('batchMailboxSecret', 'mailboxId', 'id')
    .select([...COLUMNS, 'sealed'])
    .where('batchId', '=', batchId)
    .where('id', '=', id)
    .forUpdate('batchMailbox')
    .executeTakeFirst()
  return row as (MailboxRow & { sealed: string | null }) | undefined
}

/** Saves a corrected mailbox: what was wrong with it is forgotten. */
export async function saveCorrection(
  db: Db,
  id: string,
  corrected: Pick<MailboxRow, 'source' | 'destination' | 'state' | 'message' | 'warning'>,
  sealed: string,
): Promise<void> {
  const { source, destination, state, message, warning } = corrected
  await db
    .updateTable('batchMailbox')
    .set({
      source: JSON.stringify(source),
      destination: JSON.stringify(destination),
      state,
      warning,
      problem: message === null ? null : 'invalid',
      problemHost: null,
      message,
      changedAt: NOW,
    })
    .where('id', '=', id)
    .execute()
  await db
    .insertInto('batchMailboxSecret')
    .values({ mailboxId: id, sealed })
    .onConflict((conflict) => conflict.column('mailboxId').doUpdateSet({ sealed }))
    .execute()
}

export async function deleteMailbox(db: Db, id: string): Promise<void> {
  await deleteRows(db, 'batchMailbox', { id })
}

/** Mailboxes of a report that are read together, which takes about two milliseconds. */
const REPORT_PART_ROWS = 100

/** Reads all mailboxes of a batch for its report, in the order of the lines, in parts. */
export async function* readForReport(db: Db, batchId: string): AsyncGenerator<MailboxRow[]> {
  for (let after = -1; ;) {
    const rows = await db
      .selectFrom('batchMailbox')
      .select([...COLUMNS, 'position'])
      .where('batchId', '=', batchId)
      .where('position', '>', after)
      .orderBy('position')
      .limit(REPORT_PART_ROWS)
      .execute()
    const last = rows.at(-1)
    if (!last) return
    yield rows as unknown as MailboxRow[]
    after = last.position
  }
}
