import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import type { MailLimits } from '../../store/limits/outgoing-mail.ts'
import type { DB } from '../../store/tables.ts'
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_MS } from '../../time.ts'
import { requireAccount, setPasswordOf } from '../accounts.ts'
import { withRoundedDuration } from '../constant-time.ts'
import type { AccountMailer } from '../mail/mailer.ts'
import type { AccountNotices, Origin } from '../mail/notices.ts'
import { openSealed, sealUntil } from '../secrets/sealed.ts'
import { findAccountByEmail, findPasswordHash, type AccountRow } from '../accounts.sql.ts'

const LINK_LIFETIME_MS = 30 * MINUTE_MS
const CONTEXT = 'password reset'
const INVALID_LINK = 'This link is invalid, was used or has expired. Request a new one.'

/** Anyone can enter any address, so these limits protect strangers and the relay's reputation. */
const MAIL_LIMITS: MailLimits = {
  recipient: { count: 5, seconds: DAY_SECONDS },
  sender: { count: 5, seconds: DAY_SECONDS },
  network: { count: 10, seconds: HOUR_SECONDS },
  installation: { count: 100, seconds: HOUR_SECONDS },
}

type ResetLink = { accountId: string; email: string; passwordDigest: string }

export type ResetLinkOptions = { db: Db; secretKey: string; baseUrl: string }

/**
 * Makes a link that sets a new password once, within 30 minutes. It is bound to the present
 * password, so that any change of the password makes it invalid; nothing is stored.
 * @throws Fault `not_found`
 */
async function createResetLink(
  { db, secretKey, baseUrl }: ResetLinkOptions,
  account: Pick<AccountRow, 'id' | 'email'>,
): Promise<string> {
  const link: ResetLink = {
    accountId: account.id,
    email: account.email,
    passwordDigest: await digestPassword(db, account.id),
  }
  const sealed = sealUntil(link, { secretKey, context: CONTEXT, lifetimeMs: LINK_LIFETIME_MS })
  return `${baseUrl}/reset-password#${sealed}`
}

export type PasswordReset = ReturnType<typeof createPasswordReset>

export type PasswordResetOptions = {
  db: Kysely<DB>
  mailer: AccountMailer
  notices: AccountNotices
  secretKey: string
  baseUrl: string
  isPasswordSignInOn: boolean
  passwordCost?: number | undefined
}

/** Resets forgotten passwords by email. */
export function createPasswordReset({
  db,
  mailer,
  notices,
  secretKey,
  baseUrl,
  isPasswordSignInOn,
  passwordCost,
}: PasswordResetOptions) {
  return {
    /**
     * Emails a link where the address has an account. The response and its timing are the same
     * where it has none, and so are the limits.
     * @param ip the address of the client
     * @throws Fault `conflict` where email or password sign-in is off; `rate_limited` when no email
     *   can be sent now, whether or not the address has an account
     */
    async request(email: string, ip: string): Promise<void> {
      requirePasswordSignIn(isPasswordSignInOn)
      if (!mailer.isOn)
        throw new Fault(
          'conflict',
          'This service sends no email. Ask its administrator for a link: portreeve user reset-link EMAIL.',
        )
      await withRoundedDuration(async () => {
        const to = email.toLowerCase()
        const found = await findAccountByEmail(db, to)
        const account = found?.disabledAt ? undefined : found
        const mail = { kind: 'password-reset', to }
        // Without the account, whose other addresses would count for this one.
        const counted = { ...mail, accountId: null, ip, limits: MAIL_LIMITS }
        await mailer.claim(counted, 'password resets', account !== undefined)
        if (!account) return
        const link = await createResetLink({ db, secretKey, baseUrl }, account)
        mailer.deliver({ ...mail, ...resetMail(baseUrl, link) })
      })
    },

    /**
     * Sets the password of an emailed link and ends all sessions. Second factors stay.
     * @throws Fault `forbidden` when the link is invalid, `invalid_request` for a bad password,
     *   which leaves the link valid
     */
    async confirm(sealed: string, password: string, origin: Origin): Promise<void> {
      requirePasswordSignIn(isPasswordSignInOn)
      const options = { secretKey, context: CONTEXT, message: INVALID_LINK }
      const { accountId, email, passwordDigest } = openSealed(sealed, options) as ResetLink
      const account = await findAccountByEmail(db, email)
      const isCurrent = (await digestPassword(db, accountId)) === passwordDigest
      if (account?.id !== accountId || account.disabledAt || !isCurrent)
        throw new Fault('forbidden', INVALID_LINK)
      await setPasswordOf(db, account, password, passwordCost)
      notices.send('passwordChanged', account, origin)
    },
  }
}

/** For the command line: a link for the account with this address. */
export async function createResetLinkFor(
  options: ResetLinkOptions & { db: Kysely<DB> },
  email: string,
): Promise<{ account: AccountRow; link: string }> {
  const account = await requireAccount(options.db, email)
  return { account, link: await createResetLink(options, account) }
}

function requirePasswordSignIn(isOn: boolean): void {
  if (!isOn) throw new Fault('conflict', 'Sign-in with a password is off on this service.')
}

async function digestPassword(db: Db, accountId: string): Promise<string> {
  const hash = (await findPasswordHash(db, accountId)) ?? ''
  return createHash('sha256').update(`${accountId}\n${hash}`).digest('base64url')
}

function resetMail(baseUrl: string, link: string) {
  const text = [
    `Someone, probably you, asked for a new password for your Portreeve account at ${baseUrl}.`,
    `Open this link within 30 minutes to set one:\n${link}`,
    'If it wasn’t you, ignore this email: your password stays as it is.',
  ]
  return { subject: 'Reset your Portreeve password', text: `${text.join('\n\n')}\n` }
}
