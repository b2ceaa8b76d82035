import type { Kysely } from 'kysely'
import type { Plan } from '../../config.ts'
import { Fault } from '../../errors.ts'
import type { MailLimits } from '../../store/limits/outgoing-mail.ts'
import type { DB } from '../../store/tables.ts'
import { prepareAccount } from '../accounts.ts'
import { withRoundedDuration } from '../constant-time.ts'
import type { AccountMailer } from '../mail/mailer.ts'
import { openSealed, sealUntil } from '../secrets/sealed.ts'
import {
  findAccountByEmail,
  insertAccount,
  type AccountRow,
  type NewAccount,
} from '../accounts.sql.ts'
import { DAY_MS, DAY_SECONDS, HOUR_SECONDS } from '../../time.ts'

const LINK_LIFETIME_MS = DAY_MS

/** Anyone can enter any address, so these limits protect strangers and the relay's reputation. */
const MAIL_LIMITS: MailLimits = {
  recipient: { count: 3, seconds: DAY_SECONDS },
  sender: { count: 3, seconds: DAY_SECONDS },
  network: { count: 10, seconds: HOUR_SECONDS },
  installation: { count: 100, seconds: HOUR_SECONDS },
}

const CONTEXT = 'sign-up'
const INVALID_LINK = 'This link is invalid or has expired. Sign up again to get a new one.'

export type SignUpOptions = {
  db: Kysely<DB>
  mailer: AccountMailer
  baseUrl: string
  secretKey: string
  plan: Plan
  passwordCost?: number | undefined
}

export type SignUp = ReturnType<typeof createSignUp>

/** Handles open sign-up without revealing which addresses have accounts. */
export function createSignUp({
  db,
  mailer,
  baseUrl,
  secretKey,
  plan,
  passwordCost,
}: SignUpOptions) {
  function linkFor(account: NewAccount): string {
    const options = { secretKey, context: CONTEXT, lifetimeMs: LINK_LIFETIME_MS }
    return `${baseUrl}/sign-up#${sealUntil(account, options)}`
  }

  /** Mails the link, or to the owner of an account that the address has already. */
  async function sendMail(account: NewAccount, ip: string): Promise<void> {
    const counted = { kind: 'sign-up', to: account.email, accountId: null }
    await mailer.claim({ ...counted, ip, limits: MAIL_LIMITS }, 'sign-up emails')
    const isTaken = (await findAccountByEmail(db, account.email)) !== undefined
    const written = isTaken ? ownerMail(baseUrl) : linkMail(baseUrl, linkFor(account))
    mailer.deliver({ ...counted, ...written })
  }

  return {
    /**
     * Creates an account, or emails the link that creates it where email is on. When the address
     * has an account already, the response and its timing are the same.
     * @param ip the address of the client
     * @throws Fault `invalid_request`; `rate_limited` when no email can be sent now, whether or not
     *   the address has an account
     */
    async request(
      input: { email: string; password: string; name: string },
      ip: string,
    ): Promise<void> {
      await withRoundedDuration(async () => {
        const account = await prepareAccount(
          { ...input, plan, emailVerified: mailer.isOn },
          passwordCost,
        )
        if (mailer.isOn) await sendMail(account, ip)
        else await db.transaction().execute((trx) => insertAccount(trx, account))
      })
    },

    /**
     * Creates the account of an emailed link.
     * @throws Fault `forbidden` when the link is invalid or expired, `conflict` when the account
     *   exists by now
     */
    async confirm(token: string): Promise<AccountRow> {
      const options = { secretKey, context: CONTEXT, message: INVALID_LINK }
      const account = openSealed(token, options) as NewAccount
      const row = await db.transaction().execute((trx) => insertAccount(trx, account))
      if (!row)
        throw new Fault('conflict', 'An account with this email already exists. Sign in instead.')
      return row
    },
  }
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
