import { sendMail, type Relay } from '../../net/smtp.ts'
import type { AlertRow } from '../store.ts'
import { compose } from './compose.ts'

export type MailDeps = {
  /** Null where nothing is mailed. */
  relay: Relay | null
  baseUrl: string
}

/** RFC 3834: nobody's holiday reply is wanted. */
const HEADERS = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' }

/** Said wherever mail is asked for and there is no relay. */
export const NO_RELAY = 'Nothing is mailed: this service has no relay for outgoing mail (SMTP_URL).'

export type AlertMail = {
  to: string
  /** Names the mail: the same on every try, so that a mailbox that gets it twice can tell. */
  id: string
  alerts: readonly AlertRow[]
  beforeMessage: () => Promise<void>
}

/** @throws Fault as `sendMail` does */
export async function mailAlerts(
  { relay, baseUrl }: { relay: Relay; baseUrl: string },
  { to, id, alerts, beforeMessage }: AlertMail,
  signal: AbortSignal,
): Promise<void> {
  const messageId = `<alert-${id}@${domainOf(relay.from)}>`
  await sendMail({ ...relay, beforeMessage }, { to, messageId, headers: HEADERS, ...compose(alerts, baseUrl) }, signal)
}

/** The code by which somebody shows that an address is theirs. */
export async function mailCode(
  { relay, baseUrl }: { relay: Relay; baseUrl: string },
  { to, code }: { to: string; code: string },
  signal: AbortSignal,
): Promise<void> {
  const text = [
    `Somebody with an account on Portreeve at ${baseUrl} wants alerts to be sent to this address.`,
    `If that is you, enter this code there: ${code}`,
    'If it is not you, do nothing: without the code nothing more is sent.',
  ]
  const subject = `${code} is the code for your alerts`
  await sendMail(relay, { to, subject, headers: HEADERS, text: `${text.join('\n\n')}\n` }, signal)
}

/** `Portreeve <alerts@example.com>` or the address alone. */
function domainOf(from: string): string {
  return /@([^\s>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'
}
