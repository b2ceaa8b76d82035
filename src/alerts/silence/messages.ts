// Texts of messages about acknowledged, snoozed and muted problems, and of the page of their links.
import { MAX_HELD_BACK_TITLES } from './limits.ts'

const utc = (time: Date) => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** The message at the end of a snooze. */
export function stillOpen({ title }: { title: string }, heldBack: string[]) {
  const shown = heldBack.slice(-MAX_HELD_BACK_TITLES)
  const hidden = heldBack.length - shown.length
  return {
    title: `Still open: ${title}`,
    text:
      heldBack.length === 0
        ? 'The snooze has ended and the problem is still open.'
        : [
            `The snooze has ended and the problem is still open. ${heldBack.length === 1 ? '1 alert was' : `${heldBack.length} alerts were`} held back:`,
            ...(hidden > 0 ? [`• ${hidden} older alerts`] : []),
            ...shown.map((one) => `• ${one}`),
          ].join('\n'),
  }
}

/** The line that a message in a chat gets. */
export const handlingLine = {
  acknowledged: (by: string) => `✔ Acknowledged by ${by}`,
  snoozed: (by: string, until: Date) => `Snoozed by ${by} until ${utc(until)}`,
} as const

/** Who acted, where it was not an account that exists. */
export const byLink = (channel: string) => `a link in ${channel}`
export const FORMER_MEMBER = 'a former member'

/** The links in a message. */
export const actionLabels = { acknowledge: 'Acknowledge', snooze: 'Snooze', mute: 'Mute' } as const
export const actionsLine = (url: string) => `Acknowledge, snooze or mute: ${url}`

export const SNOOZE_CHOICES = [
  { minutes: 60, name: '1 hour' },
  { minutes: 4 * 60, name: '4 hours' },
  { minutes: 24 * 60, name: '1 day' },
  { minutes: 7 * 24 * 60, name: '1 week' },
] as const

export const MUTE_CHOICES = [
  { minutes: 24 * 60, name: '1 day' },
  { minutes: 7 * 24 * 60, name: '1 week' },
  { minutes: 30 * 24 * 60, name: '30 days' },
  { minutes: 0, name: 'Until unmuted' },
] as const

export const linkPage = {
  title: 'Alert',
  acknowledge: {
    text: 'No more messages about this problem until it becomes critical or ends.',
    button: 'Acknowledge',
    done: 'Acknowledged',
  },
  snooze: {
    text: 'No messages until then. If the problem is still open, you get a reminder.',
    label: 'Snooze for',
    button: 'Snooze',
    done: (time: string) => `Snoozed for ${time}`,
  },
  mute: {
    text: 'Alerts about this problem are not sent, even if it comes back. They are still recorded.',
    label: 'Mute for',
    button: 'Mute',
    done: (time: string) => `Muted: ${time}`,
  },
  once: 'Choose one action. The link works once.',
  doneText: 'This link no longer works. Members of the workspace can change this in the dashboard.',
  used: 'This link was already used',
  usedText: 'Each link works once. Use the link in a newer message, or sign in.',
  ended: 'This problem has already ended',
  endedText: 'There is nothing left to do.',
  expired: 'This link has expired',
  expiredText: 'Links in messages work for 7 days. Use the link in a newer message, or sign in.',
  unknown: 'This link doesn’t work',
  unknownText:
    'It is incomplete or changed, or the channel no longer allows it. Sign in to handle the alert.',
  dashboard: 'Open the dashboard',
  muteReason: 'Muted by a link',
} as const

/** Entries of the audit log for actions by a link. */
export const auditActions = {
  acknowledge: 'Acknowledge an incident',
  snooze: 'Snooze an incident',
  mute: 'Mute alerts',
} as const
export const auditActor = (channel: string) => `Link in ${channel}`
