import { createHmac } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import { deriveKey } from '../../derive-key.ts'
import type { Db } from '../database.ts'
import type { DB } from '../tables.ts'
import { ADVISORY_LOCKS } from '../advisory-locks.ts'

/** Messages of one kind within a time. */
type MailLimit = { count: number; seconds: number }

export type MailLimits = {
  /** To one address, from all senders. */
  recipient: MailLimit
  /** Caused by one account, also through the workspaces that it answers for. */
  sender: MailLimit
  /** Caused by one client network, for emails of which the installation sends few. */
  network?: MailLimit
  /** From the whole installation. */
  installation: MailLimit
}

export type LimitedMail = {
  kind: string
  to: string
  /** The account that acts, or that answers for the workspace. */
  senderId: string | null
  /** The client network, where it has a limit. */
  network?: string | undefined
  /**
   * Whether there is an email at all. A request for one that does not exist counts for its recipient
   * and network, so that no limit reveals the difference, but uses nothing of the installation’s.
   */
  isSent?: boolean
}

/** The limit that is reached, and the seconds until another message is allowed. */
export type Exceeded = { limit: keyof MailLimits; seconds: number }

/** A day is the longest window of all limits. */
export const OUTGOING_MAIL_DAYS = 1

/**
 * Counts a message against its limits before it is sent. It stays counted, even if sending fails or
 * the sender is deleted.
 * @param secretKey the recipient is stored as a hash with a key derived from it
 * @returns null when it may be sent
 */
export async function claimMail(
  db: Kysely<DB>,
  secretKey: string,
  { kind, to, senderId, network: givenNetwork, isSent = true }: LimitedMail,
  limits: MailLimits,
): Promise<Exceeded | null> {
  const key = deriveKey(secretKey, 'outgoing mail')
  const hashed = (text: string) => createHmac('sha256', key).update(text).digest()
  const recipient = hashed(to.toLowerCase())
  const network = givenNetwork === undefined ? null : hashed(`network ${givenNetwork}`)
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.outgoingMail})`.execute(trx)
    const ofKind = sql`kind = ${kind}`
    const checks: [keyof MailLimits, ReturnType<typeof sql>][] = [
      ['recipient', sql`${ofKind} and recipient = ${recipient}`],
      ['sender', sql`${ofKind} and sender_id = ${senderId}::uuid`],
      ['network', sql`${ofKind} and network = ${network}`],
      ['installation', sql`${ofKind} and is_sent`],
    ]
    for (const [name, which] of checks) {
      const limit = limits[name]
      const seconds = limit && (await secondsUntilAllowed(trx, which, limit))
      if (seconds !== null && seconds !== undefined) return { limit: name, seconds }
    }
    await trx
      .insertInto('outgoingMail')
      .values({ kind, recipient, senderId, network, isSent })
      .execute()
    return null
  })
}

/** Null below the limit. Otherwise the time until the oldest message leaves the window. */
async function secondsUntilAllowed(
  db: Db,
  which: ReturnType<typeof sql>,
  limit: MailLimit,
): Promise<number | null> {
  const window = sql`make_interval(secs => ${limit.seconds})`
  const { rows } = await sql<{ seconds: number }>`
    select greatest(1, ceil(extract(epoch from sent_at + ${window} - now())))::int as seconds
    from outgoing_mail where ${which} and sent_at > now() - ${window}
    order by sent_at desc offset ${limit.count - 1} limit 1`.execute(db)
  return rows[0]?.seconds ?? null
}
