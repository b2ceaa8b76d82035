// What the mailboxes of a batch do during its cut-over.
import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { CUTOVER_LIMITS } from './limits.ts'
import type { CutoverRow } from './cutovers.sql.ts'

/** Packed records of copies that were made since the switch. */
export type CopyRows = { id: number; mailboxId: string; folder: string; copies: Buffer }

export async function listCopiesAfter(
  db: Db,
  { batchId }: Pick<CutoverRow, 'batchId'>,
  after: number,
  limit: number,
): Promise<CopyRows[]> {
  const { rows } = await sql<CopyRows>`
    select c.id, m.id as mailbox_id, concat(c.epoch, ' ', c.folder) as folder, c.copies
    from migration_copy c join batch_mailbox m on m.migration_id = c.migration_id
    where m.batch_id = ${batchId} and c.id > ${after} order by c.id limit ${limit}`.execute(db)
  return rows
}

export type Arrivals = { mailboxId: string; messages: number; lastAt: Date }

/** Replaces the new messages of mailboxes. */
export async function saveArrivals(
  db: Db,
  cutoverId: string,
  arrivals: readonly Arrivals[],
): Promise<void> {
  const columns = [
    arrivals.map(({ mailboxId }) => mailboxId),
    arrivals.map(({ messages }) => messages),
    arrivals.map(({ lastAt }) => lastAt.toISOString()),
  ]
  // In one statement, because people read both: the messages, and when the last one arrived.
  await sql`with saved as (
      insert into migration_cutover_mailbox (cutover_id, mailbox_id, messages, last_arrival_at)
      select ${cutoverId}, * from unnest(${columns[0]}::uuid[], ${columns[1]}::integer[], ${columns[2]}::timestamptz[])
      on conflict (cutover_id, mailbox_id) do update
        set messages = excluded.messages, last_arrival_at = excluded.last_arrival_at
      returning last_arrival_at)
    update migration_cutover
    set last_arrival_at = greatest(last_arrival_at, (select max(last_arrival_at) from saved))
    where id = ${cutoverId}`.execute(db)
}

/** How the source mailboxes of a batch were watched since the switch. */
export type Watch = {
  mailboxes: number
  /** Mailboxes whose last pass failed or that had none. */
  unwatched: number
  /** The earliest time at which any of the mailboxes was last checked. */
  watchedUntil: Date | null
  newMessages: number
  withNewMessages: number
}

export async function readWatch(db: Db, { id, batchId }: Pick<CutoverRow, 'id' | 'batchId'>) {
  const { rows } = await sql<Watch>`
    select count(*)::int as mailboxes,
      (count(*) filter (where s.last_ended_at is null or s.last_error is not null))::int as unwatched,
      min(s.last_started_at) filter (where s.last_error is null) as watched_until,
      coalesce(sum(n.messages), 0)::int as new_messages, count(n.messages)::int as with_new_messages
    from batch_mailbox m left join migration_sync s on s.migration_id = m.migration_id
    left join migration_cutover_mailbox n on n.mailbox_id = m.id and n.cutover_id = ${id}
    where m.batch_id = ${batchId} and m.state <> 'invalid'`.execute(db)
  return rows[0] as Watch
}

/**
 * Makes the passes of mailboxes due that last began before a time, and at least a minute ago.
 * @returns whether there are any
 */
export async function makePassesDue(
  db: Db,
  { batchId }: Pick<CutoverRow, 'batchId'>,
  before: Date,
): Promise<boolean> {
  const { numAffectedRows } = await sql`update migration_sync s set next_at = now()
    from migration g where g.id = s.migration_id and g.batch_id = ${batchId} and s.next_at > now()
      and s.last_started_at < least(${before}, now() - make_interval(secs => ${CUTOVER_LIMITS.checkSeconds}))`.execute(
    db,
  )
  return (numAffectedRows ?? 0n) > 0n
}

export type ReceivingMailbox = {
  id: string
  source: string
  messages: number
  lastArrivalAt: Date
}

/** The mailboxes with new messages at the source, the latest first. */
export async function listReceiving(
  db: Db,
  cutoverId: string,
  limit: number,
): Promise<ReceivingMailbox[]> {
  const { rows } = await sql<ReceivingMailbox>`
    select m.id, coalesce(m.source ->> 'user', '') as source, n.messages, n.last_arrival_at
    from migration_cutover_mailbox n join batch_mailbox m on m.id = n.mailbox_id
    where n.cutover_id = ${cutoverId} order by n.last_arrival_at desc, m.id limit ${limit}`.execute(
    db,
  )
  return rows
}

/** The final pass of the mailboxes. */
export type FinalPass = {
  mailboxes: number
  done: number
  /** They wait or run. */
  active: number
  /** Their pass failed. */
  failed: number
  /** Their last pass began before the final one. */
  late: string[]
}

export async function readFinalPass(
  db: Db,
  { batchId, finalStartedAt }: Pick<CutoverRow, 'batchId' | 'finalStartedAt'>,
): Promise<FinalPass> {
  const { rows } = await sql<FinalPass>`
    select count(*)::int as mailboxes, (count(*) filter (where phase = 'done'))::int as done,
      (count(*) filter (where phase = 'active'))::int as active,
      (count(*) filter (where phase = 'failed'))::int as failed,
      coalesce(array_agg(id) filter (where phase = 'late'), '{}') as late
    from (select m.id, case
        when m.state in ('queued', 'syncing') then 'active'
        when m.state = 'in_sync' and g.started_at >= ${finalStartedAt} then 'done'
        when m.state in ('in_sync', 'ready') then 'late'
        else 'failed' end as phase
      from batch_mailbox m left join migration g on g.id = m.migration_id
      where m.batch_id = ${batchId} and m.state <> 'invalid') mailbox`.execute(db)
  return rows[0] as FinalPass
}
