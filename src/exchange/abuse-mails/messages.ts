// Texts of abuse emails and of the page on which recipients opt out.
import type { DeliveryFailure } from '../../protocols/delivery-status.ts'
import { counted } from '../../counted.ts'
import type { MailedReport } from './abuse-mails.sql.ts'
import { isoDay } from '../../time.ts'

type Facts = {
  day: string
  network: string
  contact: string
  /** Null where another person than the recipient reads the text. */
  optOutUrl: string | null
  reports: MailedReport[]
  /** Reports that have a part of their own. */
  parts: number
}

export function mailSubject({ day, reports }: Pick<Facts, 'day' | 'reports'>): string {
  const [only] = reports
  return reports.length === 1 && only
    ? `Abuse report: ${only.address} attacked our servers on ${day}`
    : `Abuse report: ${counted(reports.length, 'address', 'addresses')} attacked our servers on ${day}`
}

/** In place of the link, which is the recipient’s alone. */
const OPT_OUT_PLACEHOLDER = '[a link, which only the recipient gets]'

export function mailText({ day, network, contact, optOutUrl, reports, parts }: Facts): string {
  return [
    'Hello,',
    `on ${day} (UTC) our servers recorded attacks from ${counted(reports.length, 'address', 'addresses')} in your network ${network}. Please check these systems: they may be compromised.`,
    reports.map(describeReport).join('\n'),
    parts < reports.length
      ? `The first ${parts} addresses are attached in the X-ARF format.`
      : 'The attached reports are in the X-ARF format.',
    `Reply to ${contact} for questions. Log lines are not stored here and are not part of this report.`,
    `You get this email because the registry names this address as the abuse contact of the network. To get no more of them from this service: ${optOutUrl ?? OPT_OUT_PLACEHOLDER}`,
    '-- \nSent with Portreeve, at most once a day for each network',
  ].join('\n\n')
}

function describeReport({ address, services, port, count, firstAt, lastAt }: MailedReport): string {
  const where = `${services.join(', ')}${port === null ? '' : `, port ${port}`}`
  return `${address}: ${counted(count, 'event')} (${where}), ${firstAt.toISOString()} to ${lastAt.toISOString()}`
}

/** In front of an email in test mode. */
export const testNote = (recipient: string) =>
  `Test mode: this email would go to ${recipient}. It went to you alone.`

/** Why an email counts as failed after the relay had accepted it. */
export const bounced = ({ status, diagnostic }: DeliveryFailure) =>
  `The email came back${status && ` (${status})`}${diagnostic === null ? '.' : `: ${diagnostic}`}`

export const skipped = {
  bounced: (at: Date, days: number) =>
    `An email to the recipient came back on ${isoDay(at)}. It gets none for ${days} days.`,
  optedOut: 'The recipient does not want these emails.',
  recipientLimit: (limit: number) =>
    `The recipient got ${limit} emails of this service today already.`,
  noReports: 'Its reports were deleted.',
} as const

export const NO_RELAY = 'This service has no mail relay (SMTP_URL).'

export const optOutPage = {
  title: 'No more abuse reports?',
  question: 'This service then never sends a report of attacks to your address again.',
  button: 'Stop these emails',
  done: 'You get no more reports',
  doneText: 'This service no longer sends reports of attacks to your address.',
  unknown: 'This link is not valid',
  unknownText: 'Open the link of the email again, or copy all of it.',
} as const
