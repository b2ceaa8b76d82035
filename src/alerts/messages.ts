// Texts of alerts about channels, and of the emails that carry alerts and codes.
import { HOUR_MS } from '../time.ts'
import { ALERT_DAYS, CHAT_GIVE_UP_MS } from './limits.ts'

/** Reason why no email can be sent. */
export const NO_RELAY = 'Email is not configured: this service has no mail relay (SMTP_URL).'

export const TEST_ALERT = {
  phase: 'once' as const,
  severity: 'info' as const,
  kind: 'channel.test',
  title: 'Test alert',
  text: 'This is a test from your alert channel settings. No action needed.',
  nextStep: '',
  path: '/alerts/channels',
  incident: null,
  incidentId: null,
}

/** The two parts of a test: a problem that begins and ends. */
export const TEST_RESOLVED = {
  title: 'Resolved: test alert',
  text: 'The end of the test. Alerts about problems that end look like this.',
}

/**
 * The alert about a channel that was disabled.
 * @param name address or host of the channel
 */
export function describeDisabledChannel(name: string, reason: string) {
  return {
    title: `Alerts to ${name} are paused`,
    text: reason,
    nextStep:
      'Fix the receiver, then turn the channel on again. “Send test” shows whether it works.',
  }
}

/** Several alerts in one message of a chat. */
export const groupedAlerts = {
  title: (begun: number, ended: number) =>
    ended === 0
      ? `${begun} alerts`
      : begun === 0
        ? `${ended} problems resolved`
        : `${begun} alerts, ${ended} resolved`,
  repeated: (title: string, count: number) => (count === 1 ? title : `${title} (${count} times)`),
  text: (titles: string[], hidden: number) =>
    [
      ...titles.map((title) => `• ${title}`),
      ...(hidden > 0 ? [`And ${hidden} more in the dashboard.`] : []),
    ].join('\n'),
} as const

/** The message after a time in which a service was away. */
export const unsentAlerts = (count: number) => ({
  title: `${count} ${count === 1 ? 'alert' : 'alerts'} could not be sent here`,
  text: 'The service was unavailable for too long. See the alert history in the dashboard.',
})

/** Error of what waited for a channel that was deleted. */
export const CHANNEL_DELETED = 'The channel was deleted.'

/** Error of the deliveries that it counts. */
export const gaveUp = (error: string) =>
  `Given up after ${CHAT_GIVE_UP_MS / HOUR_MS} hours. Last error: ${error}`

export const disabledReasons = {
  dead: (words: string) => `The service no longer accepts these settings. ${words}`,
  gone: 'The receiver no longer accepts alerts (410 Gone).',
  failing: (error: string) => `Every attempt has failed for a week. Last error: ${error}`,
} as const

export const codeEmail = {
  subject: (code: string) => `${code} is the code for your alerts`,
  paragraphs: (baseUrl: string, code: string) => [
    `An account on Portreeve at ${baseUrl} wants to send alerts to this address.`,
    `If this is yours, enter this code there: ${code}`,
    'If not, ignore this email: without the code nothing more is sent.',
  ],
} as const

export const alertEmail = {
  digestSubject: (count: number, first: string) => `${count} alerts: ${first}, …`,
  digest: (count: number, titles: string[]) =>
    `${count} alerts:\n${titles.map((title) => `- ${title}`).join('\n')}`,
  nextStep: (step: string) => `Next step: ${step}`,
  link: (url: string) => `Details: ${url}`,
  details: 'Details',
  actions: 'Acknowledge, snooze or mute',
  more: (count: number) =>
    `And ${count} more. All alerts of the last ${ALERT_DAYS} days are in the dashboard.`,
  footer: (baseUrl: string) =>
    `-- \nPortreeve at ${baseUrl}\nYou get this email because one of your alert channels sends to this address.`,
} as const
