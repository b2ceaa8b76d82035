import { Type } from 'typebox'
import { Fault, invalidField } from '../../errors.ts'
import { parseHost } from '../../net/address.ts'
import { sendMail, type Relay } from '../../net/smtp.ts'
import { INTERACTIVE_MAIL_DEADLINE_MS, MAIL_DEADLINE_MS, RETRY_DELAYS_MS } from '../limits.ts'
import { codeEmail, NO_RELAY } from '../messages.ts'
import type { ChannelType, SendDeps } from './channel-type.ts'
import { Text } from './fields.ts'
import { composeEmail } from './compose-email.ts'
import { actionPageOf } from '../silence/links/action-links.ts'
import { channelSettings } from './channel-settings.ts'

export const EmailChannelBody = Type.Object({
  type: Type.Literal('email'),
  address: Type.String({ maxLength: 320 }),
  ...channelSettings,
})

/** RFC 3834: prevents automatic replies. */
const HEADERS = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' }

/** Emails alerts through the installation’s relay, several of them as one digest. */
export const email: ChannelType = {
  id: 'email',
  name: 'Email',
  group: 'basic',
  keywords: 'mail inbox smtp',
  docs: 'Enter an address. An address other than your own gets a confirmation code first.',
  fields: Type.Object({
    address: Text(
      {
        label: 'Email address',
        help: 'An address other than your own gets a confirmation code first.',
        placeholder: 'oncall@example.com',
      },
      { maxLength: 320 },
    ),
  }),
  schema: EmailChannelBody,
  manual: null,
  targetField: 'address',
  grouping: 'digest',
  perMinute: null,
  retryDelaysMs: RETRY_DELAYS_MS,
  giveUpAfterMs: null,
  isIdempotent: false,
  showsHandling: false,
  hasActionLinks: true,
  isEmail: true,
  deadlineMs: MAIL_DEADLINE_MS,
  testDeadlineMs: INTERACTIVE_MAIL_DEADLINE_MS,
  prepare: (_id, { address = '' }) => ({
    target: parseAddress(address),
    secret: null,
    settingsEncrypted: null,
    settingsShown: null,
  }),
  secretOf: () => null,
  targetOf: ({ target }) => target,
  maskTarget: (address) => address,
  problem: ({ relay }) => (relay ? null : NO_RELAY),
  nameOf: ({ target }) => target,
  async send({ id, channel, alerts, beforeHandover }, deps, signal) {
    const relay = requireRelay(deps)
    const messageId = `<alert-${id}@${domainOf(relay.from)}>`
    const message = {
      to: channel.target,
      messageId,
      headers: HEADERS,
      ...composeEmail(alerts, { ...channel, baseUrl: deps.baseUrl }, (alert) =>
        actionPageOf(alert, channel, deps),
      ),
    }
    await sendMail({ ...relay, beforeMessage: beforeHandover }, message, signal)
    return {}
  },
  // A relay’s 5xx is permanent (RFC 5321, section 4.2.1).
  isFinal: (error) => error instanceof Fault && error.code === 'upstream_rejected',
  isGone: () => false,
}

/**
 * Emails the code that confirms an address.
 * @throws Fault `unavailable` without a relay, and as `sendMail` does
 */
export async function sendCodeEmail(
  deps: Pick<SendDeps, 'relay' | 'baseUrl'>,
  { to, code }: { to: string; code: string },
): Promise<void> {
  const subject = codeEmail.subject(code)
  const text = `${codeEmail.paragraphs(deps.baseUrl, code).join('\n\n')}\n`
  const signal = AbortSignal.timeout(INTERACTIVE_MAIL_DEADLINE_MS)
  await sendMail(requireRelay(deps), { to, subject, headers: HEADERS, text }, signal)
}

/** @throws Fault `unavailable` when this service sends no email */
export function requireRelay({ relay }: Pick<SendDeps, 'relay'>): Relay {
  if (!relay) throw new Fault('unavailable', NO_RELAY)
  return relay
}

/** Accepts one address without a display name: `person@example.com`. */
function parseAddress(text: string): string {
  const [, local = '', domain = ''] =
    /^([^\s@"<>(),:;\\[\]\p{Cc}]{1,64})@([^\s@]+)$/u.exec(text.trim()) ?? []
  const host = local && parseHost(domain, 'address')
  if (!host || host.kind !== 'name' || !host.name.includes('.')) {
    const message = 'is not an email address'
    throw invalidField('address', message, 'The address')
  }
  return `${local}@${host.name}`
}

/** Domain of `Portreeve <alerts@example.com>` or of the address alone. */
function domainOf(from: string): string {
  return /@([^\s>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'
}
