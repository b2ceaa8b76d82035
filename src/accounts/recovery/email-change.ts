import { createHash, randomInt } from 'node:crypto'
import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import type { MailLimits } from '../../store/limits/outgoing-mail.ts'
import type { DB } from '../../store/tables.ts'
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_MS } from '../../time.ts'
import { notifyAccountChange } from '../account-changes.ts'
import { requireEmail } from '../accounts.ts'
import type { AccountMailer } from '../mail/mailer.ts'
import type { AccountNotices, Origin } from '../mail/notices.ts'
import { openSealed, sealUntil } from '../secrets/sealed.ts'
import { subjects, type PasswordThrottle } from '../sign-in/password-throttle.ts'
import { findAccountByEmail, updateEmail } from '../accounts.sql.ts'
import { claimSecret } from '../secrets/secrets.sql.ts'

const CODE_LIFETIME_MS = 30 * MINUTE_MS
const CONTEXT = 'email change'
const EXPIRED = 'The codes have expired. Start the change again.'

const MAIL_LIMITS: MailLimits = {
  recipient: { count: 6, seconds: DAY_SECONDS },
  sender: { count: 12, seconds: DAY_SECONDS },
  network: { count: 40, seconds: HOUR_SECONDS },
  installation: { count: 100, seconds: HOUR_SECONDS },
}

type PendingChange = {
  accountId: string
  from: string
  to: string
  /** SHA-256 of each code with the account. */
  oldCodeHash: string
  newCodeHash: string
}

export type EmailChange = ReturnType<typeof createEmailChange>

export type EmailChangeOptions = {
  db: Kysely<DB>
  mailer: AccountMailer
  notices: AccountNotices
  throttle: PasswordThrottle
  secretKey: string
  baseUrl: string
}

/** Changes the address of an account after both addresses confirmed it with a code. */
export function createEmailChange({
  db,
  mailer,
  notices,
  throttle,
  secretKey,
  baseUrl,
}: EmailChangeOptions) {
  return {
    /**
     * Emails a code to each address. An address that has an account gets a warning instead, so that
     * the response does not reveal it.
     * @param ip the address of the client
     * @returns a sealed text that the confirmation needs
     * @throws Fault `conflict` where email is off, `invalid_request`; `rate_limited` when one of the
     *   emails cannot be sent now
     */
    async request(
      account: { id: string; email: string },
      email: string,
      ip: string,
    ): Promise<string> {
      if (!mailer.isOn)
        throw new Fault(
          'conflict',
          'This service sends no email, so addresses cannot be confirmed. Ask its administrator: portreeve user set-email.',
        )
      const to = requireEmail(email)
      if (to === account.email)
        throw new Fault('invalid_request', 'This is already the address of your account.')
      const [oldCode, newCode] = [createCode(), createCode()]
      const kind = 'email-change'
      const counted = { kind, accountId: account.id, ip, limits: MAIL_LIMITS }
      for (const address of [account.email, to])
        await mailer.claim({ ...counted, to: address }, 'confirmation codes')
      mailer.deliver({ kind, to: account.email, ...oldAddressMail(baseUrl, to, oldCode) })
      const isTaken = (await findAccountByEmail(db, to)) !== undefined
      mailer.deliver({
        kind,
        to,
        ...(isTaken ? takenMail(baseUrl) : newAddressMail(baseUrl, newCode)),
      })
      const pending: PendingChange = {
        accountId: account.id,
        from: account.email,
        to,
        oldCodeHash: hashCode(account.id, oldCode),
        newCodeHash: hashCode(account.id, newCode),
      }
      return sealUntil(pending, { secretKey, context: CONTEXT, lifetimeMs: CODE_LIFETIME_MS })
    },

    /**
     * Changes the address.
     * @throws Fault `forbidden` when expired or used, `invalid_request` for wrong codes,
     *   `rate_limited` after too many wrong ones, `conflict` when the address is taken by now
     */
    async confirm(
      account: { id: string; email: string },
      { state, oldCode, newCode }: { state: string; oldCode: string; newCode: string },
      origin: Origin,
    ): Promise<string> {
      const options = { secretKey, context: CONTEXT, message: EXPIRED }
      const pending = openSealed(state, options) as PendingChange
      if (pending.accountId !== account.id || pending.from !== account.email)
        throw new Fault('forbidden', EXPIRED)
      const isRight = await throttle.check(
        subjects.emailChange(account.id),
        async () => matches(pending, oldCode, newCode),
        (right) => (right ? 'right' : 'wrong'),
      )
      if (!isRight)
        throw new Fault(
          'invalid_request',
          'One of the codes is wrong. Enter both as in the emails.',
        )
      if (!(await claimSecret(db, 'email-change', state, CODE_LIFETIME_MS / 1_000)))
        throw new Fault('forbidden', EXPIRED)
      await db.transaction().execute(async (trx) => {
        if (!(await updateEmail(trx, account.id, pending.to)))
          throw new Fault('conflict', 'Another account has this address by now.')
        await notifyAccountChange(trx, account.id)
      })
      notices.send('emailChanged', account, origin)
      return pending.to
    },
  }
}

function matches(pending: PendingChange, oldCode: string, newCode: string): boolean {
  const { accountId, oldCodeHash, newCodeHash } = pending
  return (
    hashCode(accountId, oldCode.trim()) === oldCodeHash &&
    hashCode(accountId, newCode.trim()) === newCodeHash
  )
}

/** Eight digits. */
function createCode(): string {
  return String(randomInt(0, 100_000_000)).padStart(8, '0')
}

function hashCode(accountId: string, code: string): string {
  return createHash('sha256').update(`${accountId}\n${code}`).digest('base64url')
}

function oldAddressMail(baseUrl: string, to: string, code: string) {
  const text = [
    `Your Portreeve account at ${baseUrl} will get the address ${to}.`,
    `Code for this address, valid for 30 minutes:\n${code}`,
    'If it wasn’t you, change your password: someone is signed in to your account. The address stays as it is without this code.',
  ]
  return { subject: 'Confirm the change of your email address', text: `${text.join('\n\n')}\n` }
}

function newAddressMail(baseUrl: string, code: string) {
  const text = [
    `A Portreeve account at ${baseUrl} will get this address.`,
    `Code for this address, valid for 30 minutes:\n${code}`,
    'If it wasn’t you, ignore this email: nothing changes without the code.',
  ]
  return { subject: 'Confirm your new email address', text: `${text.join('\n\n')}\n` }
}

function takenMail(baseUrl: string) {
  const text = [
    `Someone, probably you, wants to use this address for another Portreeve account at ${baseUrl}.`,
    'This address already has an account. Delete that account first, or choose another address.',
  ]
  return { subject: 'This address already has a Portreeve account', text: `${text.join('\n\n')}\n` }
}
