import { sql, type Transaction } from 'kysely'
import type { ReadPosition } from '../../../net/imap/fetch/read-inbox.ts'
import type { ImapAddress } from '../../../setting-values.ts'
import type { Db } from '../../../store/database.ts'
import { findRow } from '../../../store/row.ts'
import type { DB } from '../../../store/tables.ts'

/** The account of a mailbox, by which what was read of it is stored. */
export const accountOf = ({ user, host, port }: ImapAddress) => `${user}@${host}:${port}`

/** `problem`: why it could not be read last time. */
type Reading = { readAt: Date | null; problem: string | null }

/** How far the mailbox was read; another account begins at its first message. */
export async function findPosition(db: Db, account: string): Promise<ReadPosition> {
  const row = await findRow(db, 'abuseBounceMailbox', ['uidValidity', 'lastUid'], { account })
  return row ?? { uidValidity: null, lastUid: 0 }
}

export async function savePosition(
  db: Db,
  account: string,
  { uidValidity, lastUid }: ReadPosition,
): Promise<void> {
  await db
    .insertInto('abuseBounceMailbox')
    .values({ account, uidValidity, lastUid })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ account, uidValidity, lastUid }))
    .execute()
}

/** Records that the mailbox was read, or why it was not. @returns whether that is news */
export async function saveReading(
  db: Db,
  account: string,
  { at, problem }: { at: Date; problem: string | null },
): Promise<boolean> {
  const { rows } = await sql<{ before: string | null }>`
    with before as (select problem from abuse_bounce_mailbox)
    insert into abuse_bounce_mailbox (account, read_at, problem)
    values (${account}, ${problem === null ? at : null}, ${problem})
    on conflict (id) do update set problem = excluded.problem,
      read_at = coalesce(excluded.read_at, abuse_bounce_mailbox.read_at)
    returning (select problem from before) as before`.execute(db)
  return (rows[0]?.before ?? null) !== problem
}

/** The last reading of a mailbox; undefined before the first. */
export async function findReading(db: Db, mailbox: ImapAddress): Promise<Reading | undefined> {
  return findRow(db, 'abuseBounceMailbox', ['readAt', 'problem'], { account: accountOf(mailbox) })
}

export async function findProblem(db: Db): Promise<string | null> {
  const row = await db.selectFrom('abuseBounceMailbox').select('problem').executeTakeFirst()
  return row?.problem ?? null
}

/** Records that an email came back. @returns the email; undefined when it was not sent */
export async function markBounced(
  db: Transaction<DB>,
  id: string,
  reason: string,
): Promise<{ workspaceId: string; recipient: string; isTest: boolean } | undefined> {
  return db
    .updateTable('abuseMail')
    .set({ state: 'failed', reason })
    .where('id', '=', id)
    .where('state', 'in', ['sent', 'uncertain'])
    .returning(['workspaceId', 'recipient', 'isTest'])
    .executeTakeFirst()
}

/** Holds back further emails to an address. */
export async function saveBounce(db: Db, hash: Buffer, bouncedAt: Date): Promise<void> {
  await db
    .insertInto('abuseBounce')
    .values({ hash, bouncedAt })
    .onConflict((conflict) => conflict.column('hash').doUpdateSet({ bouncedAt }))
    .execute()
}

/** When an email to an address came back; undefined when none did after a time. */
export async function findBounce(db: Db, hash: Buffer, after: Date): Promise<Date | undefined> {
  const row = await db
    .selectFrom('abuseBounce')
    .select('bouncedAt')
    .where('hash', '=', hash)
    .where('bouncedAt', '>', after)
    .executeTakeFirst()
  return row?.bouncedAt
}
