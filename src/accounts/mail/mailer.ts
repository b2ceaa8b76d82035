import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import { clientNetwork } from '../../http/client-address.ts'
import { retryText } from '../../http/limits/retry-text.ts'
import type { Logger } from '../../log.ts'
import { sendMail, type OutgoingMail, type Relay } from '../../net/smtp.ts'
import { claimMail, type Exceeded, type MailLimits } from '../../store/limits/outgoing-mail.ts'
import type { DB } from '../../store/tables.ts'
import { MINUTE_MS } from '../../time.ts'
import { renderAccountHtml } from './account-email-html.ts'

const DEADLINE_MS = MINUTE_MS

/** RFC 3834: no automatic reply is wanted. */
const HEADERS = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' }

type Written = Pick<OutgoingMail, 'to' | 'subject' | 'text'>

/** The limits of an email about an account, and what it counts for. */
export type MailClaim = {
  kind: string
  to: string
  accountId: string | null
  /** The address of the client, where its network has a limit. */
  ip?: string | undefined
  limits: MailLimits
}

/** An email about an account, and the limits that it counts against. */
export type AccountMail = MailClaim & Written

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
  const sending = new Set<Promise<unknown>>()

  /** @returns the limit that is reached; null when the email may be sent */
  async function count(
    { kind, to, accountId: senderId, ip, limits }: MailClaim,
    isSent = true,
  ): Promise<Exceeded | null> {
    const network = ip && clientNetwork(ip)
    const mail = { kind, to, senderId, network, isSent }
    const exceeded = await claimMail(db, secretKey, mail, limits)
    if (exceeded) log.warn({ kind, limit: exceeded.limit }, 'an email was not sent: limit reached')
    return exceeded
  }

  async function deliver({ to, subject, text }: Written, relayInUse: Relay): Promise<void> {
    const signal = AbortSignal.timeout(DEADLINE_MS)
    const html = renderAccountHtml({ subject, text })
    await sendMail(relayInUse, { to, subject, text, html, headers: HEADERS }, signal)
  }

  function inBackground(kind: string, work: Promise<unknown>): void {
    const task = work.catch((err: unknown) =>
      log.warn({ err, kind }, 'an email about an account could not be sent'),
    )
    sending.add(task)
    void task.finally(() => sending.delete(task))
  }

  return {
    isOn: relay !== null,
    /** Sends an email in the background, unless a limit forbids it: for what nobody waits for. */
    send(mail: AccountMail): void {
      if (!relay) return
      const work = async () => (await count(mail)) ?? (await deliver(mail, relay))
      inBackground(mail.kind, work())
    },
    /**
     * Counts an email before it is written.
     * @param noun completes “No more …”
     * @param isSent false where there is no such email, but the answer must not reveal it
     * @throws Fault `rate_limited` when a limit is reached
     */
    async claim(mail: MailClaim, noun: string, isSent = true): Promise<void> {
      const exceeded = await count(mail, isSent)
      if (exceeded) throw limitReached(exceeded, noun)
    },
    /** Sends an email in the background that was counted. */
    deliver(mail: Written & { kind: string }): void {
      if (relay) inBackground(mail.kind, deliver(mail, relay))
    },
    /** Counts an email and sends it in the background. @returns false when a limit forbids it */
    async trySend(mail: AccountMail): Promise<boolean> {
      if (!relay || (await count(mail))) return false
      inBackground(mail.kind, deliver(mail, relay))
      return true
    },
    /** Waits for emails that are being sent. */
    async close(): Promise<void> {
      await Promise.all(sending)
    },
  }
}

const SCOPES: Record<Exceeded['limit'], string> = {
  recipient: 'to this address',
  sender: 'for your account',
  network: 'for your network',
  installation: 'by this service',
}

function limitReached({ limit, seconds }: Exceeded, noun: string): Fault {
  const sentence = `No more ${noun} are sent ${SCOPES[limit]} for now. Try again ${retryText(seconds)}.`
  return new Fault('rate_limited', sentence, { retryAfter: seconds })
}
