import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Plan } from '../config.ts'
import { Fault } from '../errors.ts'
import type { Logger } from '../log.ts'
import { sendMail, type OutgoingMail, type Relay } from '../net/smtp.ts'
import { claimMail, type MailLimits } from '../store/outgoing-mail.ts'
import { encrypt, decrypt } from '../store/encryption.ts'
import type { DB } from '../store/tables.ts'
import { prepareAccount } from './accounts.ts'
import { findAccountByEmail, insertAccount, type AccountRow, type NewAccount } from './store.ts'

/**
 * Milliseconds to which an answer to a sign-up is rounded up: whether a row was written or a mail begun is not to be measured.
 */
const ANSWER_STEP_MS = 500

const LINK_LIFETIME_MS = 24 * 3_600_000
const MAIL_DEADLINE_MS = 60_000

/** Whoever signs up names the address, so these protect strangers and the relay's good name. */
const MAIL_LIMITS: MailLimits = {
  recipient: { count: 3, seconds: 86_400 },
  account: { count: 3, seconds: 86_400 },
  installation: { count: 100, seconds: 3_600 },
}

/** RFC 3834: no automatic reply is wanted. */
const HEADERS = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' }
const CONTEXT = 'sign-up'

export type SignUpOptions = {
  db: Kysely<DB>
  /** Null where nothing is mailed. */
  relay: Relay | null
  baseUrl: string
  secretKey: string
  plan: Plan
  log: Logger
}

export type SignUp = ReturnType<typeof createSignUp>

/** Makes accounts for people who ask for one, without telling anybody who has one already. */
export function createSignUp({ db, relay, baseUrl, secretKey, plan, log }: SignUpOptions) {
  const mailing = new Set<Promise<void>>()

  /** Beside the answer, which must not take longer for one of the two mails. */
  function mail(relayToUse: Relay, outgoing: Omit<OutgoingMail, 'headers'>): void {
    const sending = sendLimited(relayToUse, outgoing).catch((err: unknown) =>
      log.warn({ err }, 'a mail about a sign-up could not be sent'),
    )
    mailing.add(sending)
    void sending.finally(() => mailing.delete(sending))
  }

  async function sendLimited(relayToUse: Relay, outgoing: Omit<OutgoingMail, 'headers'>): Promise<void> {
    const exceeded = await claimMail(db, secretKey, { kind: 'sign-up', to: outgoing.to, accountId: null }, MAIL_LIMITS)
    if (exceeded) return log.warn({ limit: exceeded.limit }, 'a mail about a sign-up was not sent: too many of them')
    await sendMail(relayToUse, { ...outgoing, headers: HEADERS }, AbortSignal.timeout(MAIL_DEADLINE_MS))
  }

  function linkFor(account: NewAccount): string {
    const content = JSON.stringify({ account, expiresAt: Date.now() + LINK_LIFETIME_MS })
    return `${baseUrl}/sign-up#${encrypt(content, secretKey, CONTEXT)}`
  }

  return {
    /**
     * Makes an account, or where mail goes out sends the link that makes it. Does and answers the same, as far as anybody can
     * see who does not read that mail, when the address has an account.
     * @throws Fault `invalid_request`
     */
    async ask(input: { email: string; password: string; name: string }): Promise<void> {
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
     * Makes the account of a link that was mailed.
     * @throws Fault `forbidden` when the link is not ours or too old, `conflict` when there is an account by now
     */
    async confirm(token: string): Promise<AccountRow> {
      const account = openLink(token, secretKey)
      const row = await db.transaction().execute((trx) => insertAccount(trx, account))
      if (!row) throw new Fault('conflict', 'This address has an account already. Sign in instead.')
      return row
    },

    /** Waits for the mails that are being sent. */
    async close(): Promise<void> {
      await Promise.all(mailing)
    },
  }
}

function openLink(token: string, secretKey: string): NewAccount {
  const refusal = new Fault('forbidden', 'This link is not valid any more. Sign up again to get a new one.')
  try {
    const { account, expiresAt } = JSON.parse(decrypt(token, secretKey, CONTEXT)) as {
      account: NewAccount
      expiresAt: number
    }
    if (expiresAt > Date.now()) return account
  } catch {
    throw refusal
  }
  throw refusal
}

function linkMail(baseUrl: string, link: string) {
  const text = [
    `Someone, probably you, asked for an account on Portreeve at ${baseUrl} with this address.`,
    `Open this link within 24 hours to create the account:\n${link}`,
    'If it was not you, do nothing: without the link there is no account.',
  ]
  return { subject: 'Confirm your Portreeve account', text: `${text.join('\n\n')}\n` }
}

function ownerMail(baseUrl: string) {
  const text = [
    `Someone, probably you, tried to sign up on Portreeve at ${baseUrl} with this address, which already has an account.`,
    `Sign in with your password instead: ${baseUrl}/sign-in`,
    'If it was not you, do nothing: your account has not changed, and they were not told that it exists.',
  ]
  return { subject: 'You already have a Portreeve account', text: `${text.join('\n\n')}\n` }
}
