import { withoutLinks } from '../../http/shown-name.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../../time.ts'
import type { MailLimits } from '../../store/limits/outgoing-mail.ts'
import type { AccountMailer } from './mailer.ts'

const MAIL_LIMITS: MailLimits = {
  recipient: { count: 20, seconds: DAY_SECONDS },
  sender: { count: 20, seconds: DAY_SECONDS },
  installation: { count: 1_000, seconds: HOUR_SECONDS },
}

/** Changes of an account that its owner should hear of even if someone else made them. */
const EVENTS = {
  newDevice: {
    subject: 'New sign-in to your Portreeve account',
    text: 'Your account was signed in to from a new browser.',
  },
  passwordChanged: {
    subject: 'Your Portreeve password was changed',
    text: 'The password of your account was changed, and other sessions were ended.',
  },
  twoFactorEnabled: {
    subject: 'Two-factor authentication is on',
    text: 'An authenticator app was added to your account. Signing in with the password now needs its code.',
  },
  twoFactorDisabled: {
    subject: 'Two-factor authentication is off',
    text: 'The authenticator app was removed from your account. Signing in needs only the password.',
  },
  backupCodesReplaced: {
    subject: 'Your Portreeve backup codes were replaced',
    text: 'New backup codes were created for your account. The old ones no longer work.',
  },
  passkeyAdded: {
    subject: 'A passkey was added to your Portreeve account',
    text: 'A passkey was added to your account. It can sign in without the password.',
  },
  passkeyRemoved: {
    subject: 'A passkey was removed from your Portreeve account',
    text: 'A passkey was removed from your account. It can no longer sign in.',
  },
  oidcLinked: {
    subject: 'Single sign-on was linked to your Portreeve account',
    text: 'Your account can now be signed in to with single sign-on.',
  },
  oidcUnlinked: {
    subject: 'Single sign-on was unlinked from your Portreeve account',
    text: 'Your account can no longer be signed in to with single sign-on.',
  },
  tokenCreated: {
    subject: 'An API token was created for your Portreeve account',
    text: 'An API token was created. It can read and change the data of your account.',
  },
  emailChanged: {
    subject: 'The email address of your Portreeve account was changed',
    text: 'Your account now has another email address. Sign in with that one.',
  },
} as const

export type AccountEvent = keyof typeof EVENTS

/** Where a request came from, as far as it is known. */
export type Origin = { ip: string; userAgent: string | undefined }

export type AccountNotices = ReturnType<typeof createAccountNotices>

/** Emails the owner of an account about changes of its sign-in. Nothing is sent without a relay. */
export function createAccountNotices({
  mailer,
  baseUrl,
}: {
  mailer: AccountMailer
  baseUrl: string
}) {
  return {
    send(event: AccountEvent, account: { id: string; email: string }, origin: Origin): void {
      const { subject, text } = EVENTS[event]
      const paragraphs = [
        text,
        describeOrigin(origin),
        `If it was you, there is nothing to do. If not, change your password and end the other sessions at ${baseUrl}/account, or ask the administrator of the service to disable the account.`,
      ]
      mailer.send({
        kind: 'account-notice',
        accountId: account.id,
        to: account.email,
        limits: MAIL_LIMITS,
        subject,
        text: `${paragraphs.join('\n\n')}\n`,
      })
    },
  }
}

function describeOrigin({ ip, userAgent = 'unknown' }: Origin): string {
  const time = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
  return `Time: ${time}\nAddress: ${ip}\nBrowser: ${plain(userAgent)}`
}

/** The browser names itself, so its name is cut to one short printable line. */
function plain(text: string): string {
  return withoutLinks(text.replace(/[^\x20-\x7e]/g, '?').slice(0, 200))
}
