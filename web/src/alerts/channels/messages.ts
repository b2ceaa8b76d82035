import type { Tone } from '../../ui/feedback/status.tsx'
import { counted, numberText } from '../../ui/text/format.ts'
import type { AlertChannelType, Channel, ChannelField, QuietHours } from '../api.ts'
import { kindOf } from '../messages.ts'

type State = { tone: Tone; word: string }

export const page = {
  title: 'Alert channels',
  lead: 'Where we send alerts: by email, to chats, to phones and to paging services.',
  loading: 'Loading channels…',
  yours: 'Your channels',
  add: 'Add a channel',
  none: 'No alert channels',
  noneHint: 'Alerts are listed in the history, and not sent anywhere. Add a channel to get them.',
} as const

/** What to connect first, by group of services. */
export const suggestions = {
  title: 'Connect another channel',
  lead: 'Email can be slow, or fail together with what you monitor. A second channel reaches you then.',
  groups: {
    chat: { name: 'A chat that your team reads', text: 'Everyone sees a problem begin and end.' },
    push: { name: 'Your phone', text: 'A push notification, with its priority.' },
    paging: { name: 'Your on-call rotation', text: 'Pages the person on call.' },
  } as Partial<Record<AlertChannelType['group'], { name: string; text: string }>>,
} as const

export const picker = {
  title: 'Add an alert channel',
  lead: 'Choose a service. You can send a test before you save.',
  back: 'Alert channels',
  loading: 'Loading services…',
  search: 'Search services',
  searchHint: 'A name, or what you want: teams, phone, on-call, sms',
  found: (count: number) => counted(count, 'service'),
  none: (text: string) => `No service matches “${text}”.`,
  noneHint: 'Most services accept a request over HTTP. Search for “http”.',
  /** Names of the groups, and words by which people look for them. */
  groups: {
    basic: { name: 'Email and webhook', words: '' },
    chat: { name: 'Chat', words: 'chat message messenger team' },
    push: { name: 'Push to phones', words: 'push phone mobile app notification' },
    paging: { name: 'On-call paging', words: 'paging pager on-call oncall incident phone call' },
    other: { name: 'Other', words: 'other own api' },
  } as Record<AlertChannelType['group'], { name: string; words: string }>,
} as const

export const create = {
  title: (service: string) => `Add a channel: ${service}`,
  back: 'All services',
  loading: 'Loading the form…',
  unknown: 'This service does not exist in this version.',
  submit: 'Add channel',
  label: 'Name',
  labelHint: 'Shown in the list of channels.',
  labelExample: 'on call',
  more: 'More options',
  guide: (service: string) => `About ${service}: setup, limits and troubleshooting`,
  created: (service: string) => `${service} is added`,
  yours: 'Your new channel',
  createdHint: 'Send a test to see that alerts arrive.',
  secret: 'Requests are signed with this secret. Copy it now: it won’t be shown again.',
  secretName: 'the secret',
  another: 'Add another',
  all: 'All channels',
} as const

/** Problems and hints of generated fields. */
export const field = {
  required: ({ label }: ChannelField) => `Enter a value for “${label}”.`,
  invalid: ({ placeholder }: ChannelField) =>
    placeholder === null ? 'Check this value.' : `Check this value. Example: ${placeholder}`,
  tooLong: (limit: number) => `Use up to ${numberText(limit)} characters.`,
  saved: (shown: string) => `Saved: ${shown}. Enter a new one to replace it.`,
  savedHidden: 'Saved. Enter a new one to replace it.',
  remove: ({ label }: ChannelField) => `Remove: ${label}`,
} as const

export const test = {
  send: 'Send test',
  sendUnsaved: 'Send a test',
  about: (target: string) => `to ${target}`,
  sent: 'Test sent.',
  accepted: (service: string) =>
    `${service} accepted the test. Look for a problem that begins, then ends.`,
  answer: (responses: string) => `Answer: ${responses}`,
  /** Completes the error of settings that a service rejects. */
  rejected: 'The service doesn’t accept these settings. Possible reasons:',
  repair: 'To fix it:',
  retry: 'Try again',
} as const

export const channel = {
  facts: {
    service: 'Service',
    label: 'Name',
    events: 'Topics',
    severity: 'Severity',
    quietHours: 'Quiet hours',
    failingSince: 'Failing since',
    waiting: 'Waiting',
    lastSent: 'Last sent',
  },
  waiting: (count: number) => counted(count, 'alert'),
  /** What to do about a channel that was turned off. */
  disabledHint: 'Fix the cause, then try again: a test that arrives turns the channel on.',
  edit: 'Edit',
  cancel: 'Cancel',
  delete: 'Delete',
  deleting: (target: string) => `Deleting the channel to ${target}. Its deliveries are kept.`,
  on: 'On',
  save: 'Save changes',
} as const

export const guide = {
  title: (service: string) => `Alerts in ${service}`,
  create: 'Add this channel',
  setup: 'Set up',
  settings: 'Settings',
  secret: 'Encrypted, and never shown again.',
  default: (value: string) => `Default: ${value}.`,
  choices: (choices: string[]) => `One of: ${choices.join(', ')}.`,
  optional: 'Optional.',
  behavior: 'How it behaves',
  limits: 'Limits',
  limitsText: ({ title, text, perMinute }: { title: number; text: number; perMinute: number }) =>
    `${numberText(title)} characters of title and ${numberText(text)} of text; longer ones are cut. Up to ${numberText(perMinute)} messages a minute.`,
  ending: 'End of a problem',
  disabling: 'Turned off when',
} as const

export const confirmation = {
  submit: 'Confirm address',
  code: 'Code',
  sendNew: 'Send new code',
  sent: (address: string | null) => `A new code is on its way to ${address}.`,
  hint: (address: string | null) => `We sent it to ${address}.`,
  failedHint: 'The last email couldn’t be sent.',
  enterCode: 'Enter the code from the email.',
} as const

export const sending = {
  events: 'Topics',
  severity: 'Send alerts that are',
  allSeverities: 'of any severity',
  severities: {
    critical: 'critical',
    error: 'error or critical',
    warning: 'warning, error or critical',
    info: 'info or more severe',
  },
  quietHint: 'No alerts are sent during these hours; you get all of them at the end.',
  criticalAnytime: 'Send critical alerts during quiet hours',
  actionLinks: 'Add links to acknowledge, snooze and mute',
  actionLinksHint: 'Anyone who can read a message can use its link once, without signing in.',
} as const

const CHANNEL_STATES: Record<Channel['status'], State> = {
  active: { tone: 'good', word: 'On' },
  unconfirmed: { tone: 'warn', word: 'Unconfirmed' },
  off: { tone: 'unknown', word: 'Paused' },
  disabled: { tone: 'bad', word: 'Turned off after failures' },
  undeliverable: { tone: 'bad', word: 'Email not configured' },
}

export function channelState({ status, failingSince }: Channel): State {
  if (status === 'active' && failingSince !== null) return { tone: 'warn', word: 'Failing' }
  return CHANNEL_STATES[status]
}

export function describeQuietHours(
  quietHours: QuietHours | null,
  criticalAnytime: boolean,
): string | null {
  if (quietHours === null) return null
  const hours = `${quietHours.from} to ${quietHours.to}, ${quietHours.timeZone}`
  return criticalAnytime ? `${hours}, except critical alerts` : hours
}

export function describeKinds(kinds: string[] | null): string {
  return kinds === null
    ? 'All'
    : kinds.map((kind) => kindOf(kind)?.name ?? kind).join(', ') || 'None'
}
