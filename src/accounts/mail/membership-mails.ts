import type { MailLimits } from '../../store/limits/outgoing-mail.ts'
import type { Role } from '../../http/access.ts'
import { nameInMail } from '../../http/shown-name.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../../time.ts'
import type { AccountMailer } from './mailer.ts'

/** Invitations go to addresses that never asked for them: few to one, and few from one account. */
const INVITATION_LIMITS: MailLimits = {
  recipient: { count: 5, seconds: DAY_SECONDS },
  sender: { count: 50, seconds: DAY_SECONDS },
  network: { count: 100, seconds: HOUR_SECONDS },
  installation: { count: 500, seconds: HOUR_SECONDS },
}

const NOTICE_LIMITS: MailLimits = {
  recipient: { count: 20, seconds: DAY_SECONDS },
  sender: { count: 100, seconds: DAY_SECONDS },
  installation: { count: 1_000, seconds: HOUR_SECONDS },
}

type Sender = { accountId: string; email: string }
type Recipient = { email: string; role: Role }

export type MembershipMails = ReturnType<typeof createMembershipMails>

/** Emails about members of workspaces. Nothing is sent without a relay. */
export function createMembershipMails({
  mailer,
  baseUrl,
}: {
  mailer: AccountMailer
  baseUrl: string
}) {
  function notify(by: Sender, to: string, subject: string, paragraphs: string[]): void {
    mailer.send({
      kind: 'membership-notice',
      accountId: by.accountId,
      to,
      limits: NOTICE_LIMITS,
      subject,
      text: textOf(paragraphs),
    })
  }

  return {
    /**
     * @param ip the address of the client
     * @returns whether an email is sent, which a limit may forbid
     */
    async sendInvitation(
      by: Sender,
      { email, role, workspace, url }: InvitationMail,
      ip: string,
    ): Promise<boolean> {
      if (email === null || !mailer.isOn) return false
      const name = nameInMail(workspace)
      return mailer.trySend({
        kind: 'invitation',
        accountId: by.accountId,
        ip,
        to: email,
        limits: INVITATION_LIMITS,
        subject: `Invitation to the workspace “${name}” on Portreeve`,
        text: textOf([
          `${by.email} invites you to the workspace “${name}” on Portreeve at ${baseUrl}, with the role “${role}”.`,
          `Open this link within 7 days to accept or ignore the invitation:\n${url}`,
          `If ${email} has no account yet, you can create it on that page.`,
          'If you don’t know the sender, ignore this email. Nothing changes until you accept.',
        ]),
      })
    },
    sendRoleChanged(by: Sender, { email, role }: Recipient, workspace: string): void {
      const name = nameInMail(workspace)
      notify(by, email, `Your role in the workspace “${name}” was changed`, [
        `${by.email} changed your role in the workspace “${name}” on Portreeve at ${baseUrl}. Your role is now “${role}”.`,
        'Your API tokens in this workspace now have the rights of this role.',
      ])
    },
    sendRemoved(by: Sender, { email }: Recipient, workspace: string): void {
      const name = nameInMail(workspace)
      notify(by, email, `You were removed from the workspace “${name}”`, [
        `${by.email} removed you from the workspace “${name}” on Portreeve at ${baseUrl}.`,
        'Your API tokens in this workspace no longer work. Your account and your other workspaces are unchanged.',
      ])
    },
  }
}

export type InvitationMail = { email: string | null; role: Role; workspace: string; url: string }

const textOf = (paragraphs: string[]) => `${paragraphs.join('\n\n')}\n`
