import type { Kysely } from 'kysely'
import type { Logger } from '../../log.ts'
import { sendMail, type OutgoingMail, type Relay } from '../../net/smtp.ts'
import { claimMail, type MailLimits } from '../../store/limits/outgoing-mail.ts'
import type { DB } from '../../store/tables.ts'
import { MINUTE_MS } from '../../time.ts'

const DEADLINE_MS = MINUTE_MS

/** RFC 3834: no automatic reply is wanted. */
const HEADERS = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' }

/** An email about an account, and the limits that it counts against. */
export type AccountMail = Pick<OutgoingMail, 'to' | 'subject' | 'text'> & {
  kind: string
  accountId: string | null
  limits: MailLimits
}

export type AccountMailer = ReturnType<typeof createAccountMailer>

export type AccountMailerOptions = {
  db: Kysely<DB>
  /** Null where email is off: nothing is sent. */
  relay: Relay | null
  secretKey: string
  log: Logger
}

/**
 * Sends emails about accounts in the background, so that no response takes longer because of an
 * email, which would reveal whether an address has an account.
 */
export function createAccountMailer({ db, relay, secretKey, log }: AccountMailerOptions) {
  const sending = new Set<Promise<void>>()

  async function sendLimited(
    { kind, accountId, limits, ...mail }: AccountMail,
    relayInUse: Relay,
  ): Promise<void> {
    const exceeded = await claimMail(
      db,
      secretKey,
      { kind, to: mail.to, senderId: accountId },
      limits,
    )
    if (exceeded)
      return log.warn({ kind, limit: exceeded.limit }, 'an email was not sent: limit reached')
    const signal = AbortSignal.timeout(DEADLINE_MS)
    await sendMail(relayInUse, { ...mail, headers: HEADERS }, signal)
  }

  return {
    isOn: relay !== null,
    send(mail: AccountMail): void {
      if (!relay) return
      const task = sendLimited(mail, relay).catch((err: unknown) =>
        log.warn({ err, kind: mail.kind }, 'an email about an account could not be sent'),
      )
      sending.add(task)
      void task.finally(() => sending.delete(task))
    },
    /** Waits for emails that are being sent. */
    async close(): Promise<void> {
      await Promise.all(sending)
    },
  }
}
