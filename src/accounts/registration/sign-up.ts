import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Plan } from '../../config.ts'
import { Fault } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { sendMail, type OutgoingMail, type Relay } from '../../net/smtp.ts'
import { claimMail, type MailLimits } from '../../store/limits/outgoing-mail.ts'
import { encrypt, decrypt } from '../../store/encryption.ts'
import type { DB } from '../../store/tables.ts'
import { prepareAccount } from '../accounts.ts'
import { findAccountByEmail, insertAccount, type AccountRow, type NewAccount } from '../store.ts'
import { DAY_MS, DAY_SECONDS, HOUR_SECONDS, MINUTE_MS } from '../../time.ts'

/**
 * Response times of sign-ups are rounded up to multiples of this, so that timing does not reveal
 * whether an account exists.
 */
const ANSWER_STEP_MS = 500

const LINK_LIFETIME_MS = DAY_MS
const MAIL_DEADLINE_MS = MINUTE_MS

/** Anyone can enter any address, so these limits protect strangers and the relay's reputation. */
const MAIL_LIMITS: MailLimits = {
  recipient: { count: 3, seconds: DAY_SECONDS },
  account: { count: 3, seconds: DAY_SECONDS },
  installation: { count: 100, seconds: HOUR_SECONDS },
}

/** RFC 3834: no automatic reply is wanted. */
const HEADERS = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' }
const CONTEXT = 'sign-up'

export type SignUpOptions = {
  db: Kysely<DB>
  /** Null where email is off. */
  relay: Relay | null
  baseUrl: string
  secretKey: string
  plan: Plan
  log: Logger
}

export type SignUp = ReturnType<typeof createSignUp>

/** Handles open sign-up without revealing which addresses have accounts. */
export function createSignUp({ db, relay, baseUrl, secretKey, plan, log }: SignUpOptions) {
  const mailing = new Set<Promise<void>>()

  /** Sends in the background, so that the response takes equally long for both emails. */
  function mail(relayToUse: Relay, outgoing: Omit<OutgoingMail, 'headers'>): void {
    const sending = sendLimited(relayToUse, outgoing).catch((err: unknown) =>
      log.warn({ err }, 'a sign-up email could not be sent'),
    )
    mailing.add(sending)
    void sending.finally(() => mailing.delete(sending))
  }

  async function sendLimited(
    relayToUse: Relay,
    outgoing: Omit<OutgoingMail, 'headers'>,
  ): Promise<void> {
    const exceeded = await claimMail(
      db,
      secretKey,
      { kind: 'sign-up', to: outgoing.to, accountId: null },
      MAIL_LIMITS,
    )
    if (exceeded)
      return log.warn({ limit: exceeded.limit }, 'a sign-up email was not sent: limit reached')
    await sendMail(
      relayToUse,
      { ...outgoing, headers: HEADERS },
      AbortSignal.timeout(MAIL_DEADLINE_MS),
    )
  }

  function linkFor(account: NewAccount): string {
    const content = JSON.stringify({ account, expiresAt: Date.now() + LINK_LIFETIME_MS })
    return `${baseUrl}/sign-up#${encrypt(content, secretKey, CONTEXT)}`
  }

  return {
    /**
     * Creates an account, or emails the link that creates it where email is on. When the address
     * has an account already, the response and its timing are the same.
     * @throws Fault `invalid_request`
     */
    async request(input: { email: string; password: string; name: string }): Promise<void> {
      const start = performance.now()
      const account = await prepareAccount({ ...input, plan, emailVerified: relay !== null })
      if (relay) {
        const isTaken = (await findAccountByEmail(db, account.email)) !== undefined
        const written = isTaken ? ownerMail(baseUrl) : linkMail(baseUrl, linkFor(account))
        mail(relay, { to: account.email, ...written })
      } else await db.transaction().execute((trx) => insertAccount(trx, account))
      const elapsed = performance.now() - start
      await sleep(Math.ceil(elapsed / ANSWER_STEP_MS) * ANSWER_STEP_MS - elapsed)
    },

    /**
     * Creates the account of an emailed link.
     * @throws Fault `forbidden` when the link is invalid or expired, `conflict` when the account
     *   exists by now
     */
    async confirm(token: string): Promise<AccountRow> {
      const account = openLink(token, secretKey)
      const row = await db.transaction().execute((trx) => insertAccount(trx, account))
      if (!row)
        throw new Fault('conflict', 'An account with this email already exists. Sign in instead.')
      return row
    },

    /** Waits for emails that are being sent. */
    async close(): Promise<void> {
      await Promise.all(mailing)
    },
  }
}

function openLink(token: string, secretKey: string): NewAccount {
  const invalid = new Fault(
    'forbidden',
    'This link is invalid or has expired. Sign up again to get a new one.',
  )
  try {
    const { account, expiresAt } = JSON.parse(decrypt(token, secretKey, CONTEXT)) as {
      account: NewAccount
      expiresAt: number
    }
    if (expiresAt > Date.now()) return account
  } catch {
    throw invalid
  }
  throw invalid
}

function linkMail(baseUrl: string, link: string) {
  const text = [
    `Someone, probably you, signed up for Portreeve at ${baseUrl} with this email address.`,
    `Open this link within 24 hours to create the account:\n${link}`,
    'If it wasn’t you, ignore this email: no account is created without the link.',
  ]
  return { subject: 'Confirm your Portreeve account', text: `${text.join('\n\n')}\n` }
}

function ownerMail(baseUrl: string) {
  const text = [
    `Someone, probably you, tried to sign up for Portreeve at ${baseUrl} with this email address, which already has an account.`,
    `Sign in with your password instead: ${baseUrl}/sign-in`,
    'If it wasn’t you, ignore this email: your account hasn’t changed, and the sign-up page didn’t reveal that it exists.',
  ]
  return { subject: 'You already have a Portreeve account', text: `${text.join('\n\n')}\n` }
}
