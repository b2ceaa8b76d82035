import type { Db } from '../../store/database.ts'
import type { SenderMark } from './senders.ts'

/** The marks of a domain’s senders, by the sender’s id. */
export async function listMarks(db: Db, domainId: string): Promise<Map<string, SenderMark>> {
  const rows = await db
    .selectFrom('dmarcSenderMark')
    .select(['sender', 'mark'])
    .where('domainId', '=', domainId)
    .execute()
  return new Map(rows.map(({ sender, mark }) => [sender, mark as SenderMark]))
}

export async function countMarks(db: Db, domainId: string): Promise<number> {
  const { count } = await db
    .selectFrom('dmarcSenderMark')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('domainId', '=', domainId)
    .executeTakeFirstOrThrow()
  return count
}

/** Sets the mark of a sender. */
export async function saveMark(
  db: Db,
  { domainId, sender, mark }: { domainId: string; sender: string; mark: SenderMark },
): Promise<void> {
  await db
    .insertInto('dmarcSenderMark')
    .values({ domainId, sender, mark })
    .onConflict((conflict) =>
      conflict.columns(['domainId', 'sender']).doUpdateSet({ mark, markedAt: new Date() }),
    )
    .execute()
}

export async function deleteMark(db: Db, domainId: string, sender: string): Promise<void> {
  await db
    .deleteFrom('dmarcSenderMark')
    .where('domainId', '=', domainId)
    .where('sender', '=', sender)
    .execute()
}
