import type { LinkProps } from '@tanstack/react-router'
import type { Tone } from '../ui/feedback/status.tsx'
import { counted } from '../ui/text/format.ts'
import type { Channel, Delivery, QuietHours } from './api.ts'

type State = { tone: Tone; word: string }

type AlertKind = { name: string; to: NonNullable<LinkProps['to']> }

/** First words of alert kinds: their topic and its page. */
export const ALERT_KINDS: Record<string, AlertKind> = {
  blacklist: { name: 'Blocklists', to: '/monitoring' },
  certificate: { name: 'Certificates', to: '/monitoring' },
  dns: { name: 'DNS records', to: '/monitoring' },
  delisting: { name: 'Delisting', to: '/delisting' },
  dmarc: { name: 'DMARC', to: '/dmarc' },
  migration: { name: 'Migrations', to: '/migrations' },
  webhook: { name: 'Webhooks', to: '/hooks' },
  channel: { name: 'Alert channels', to: '/alerts/channels' },
}

/** The topic of an alert; undefined where this dashboard has no page for it. */
export function kindOf(kind: string): AlertKind | undefined {
  return ALERT_KINDS[kind.split('.')[0] ?? '']
}

export const list = {
  title: 'Alerts',
  lead: 'Every alert from the last 180 days, and where it was delivered.',
  history: 'History',
  channels: 'Channels',
  loading: 'Loading alerts…',
  topic: 'Topic',
  allTopics: 'All topics',
  count: (count: number) => counted(count, 'alert'),
  noEmail: 'This service can’t send email.',
  noEmailHint: ['Its administrator can set ', ' to a mail relay. Webhooks work without it.'],
  empty: 'No alerts yet',
  emptyHint: 'Monitor a host or a domain, then send a test to check that alerts reach you:',
  yourChannels: 'your channels',
  byEmail: 'by email',
  byWebhook: 'by webhook',
} as const

export const channels = {
  title: 'Alert channels',
  lead: 'Where we send alerts. Emails are batched for a minute, so a burst arrives as one message.',
  loading: 'Loading channels…',
  yours: 'Your channels',
  add: 'Add a channel',
} as const

export const create = {
  submit: 'Add channel',
  type: 'Type',
  types: { email: 'Email address', webhook: 'Webhook' },
  address: 'Email address',
  addressHint: 'An address other than your own gets a confirmation code first.',
  enterAddress: 'Enter an email address.',
  url: 'Webhook URL',
  urlHint: 'Each alert is sent as a POST request, signed as in Standard Webhooks.',
  enterUrl: 'Enter a URL that begins with https://.',
  label: 'Label',
  labelExample: 'on call',
  added: 'Webhook added',
  secret: 'Requests are signed with this secret. Copy it now: it won’t be shown again.',
  secretName: 'the secret',
} as const

export const channel = {
  facts: {
    type: 'Type',
    label: 'Label',
    events: 'Events',
    quietHours: 'Quiet hours',
    lastSent: 'Last sent',
  },
  types: { email: 'Email', webhook: 'Webhook' } as Record<string, string>,
  sendTest: 'Send test',
  testAbout: (target: string) => `to ${target}`,
  testSent: 'Test sent.',
  edit: 'Edit',
  cancel: 'Cancel',
  delete: 'Delete',
  deleting: (target: string) => `Deleting the channel to ${target}. Its deliveries are kept.`,
  on: 'On',
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

export const settings = {
  save: 'Save settings',
  label: 'Label',
  events: 'Events',
  quiet: 'Quiet hours',
  quietHint: 'No alerts are sent during these hours; you get all of them at the end.',
  from: 'From',
  to: 'To',
  timeZone: 'Time zone',
  enterTime: (example: string) => `Enter a time, such as ${example}.`,
} as const

const CHANNEL_STATES: Record<Channel['status'], State> = {
  active: { tone: 'good', word: 'On' },
  unconfirmed: { tone: 'warn', word: 'Unconfirmed' },
  off: { tone: 'unknown', word: 'Off' },
  disabled: { tone: 'bad', word: 'Turned off after failures' },
  undeliverable: { tone: 'bad', word: 'Email not configured' },
}

export function channelState({ status }: Channel): State {
  return CHANNEL_STATES[status]
}

const DELIVERY_STATES: Record<Delivery['status'], State> = {
  waiting: { tone: 'info', word: 'Waiting' },
  sending: { tone: 'info', word: 'Sending' },
  sent: { tone: 'good', word: 'Sent' },
  failed: { tone: 'bad', word: 'Failed' },
  uncertain: { tone: 'unknown', word: 'Possibly sent' },
  dropped: { tone: 'unknown', word: 'Ended before it was sent' },
}

export function deliveryState({ status }: Delivery): State {
  return DELIVERY_STATES[status]
}

export function describeQuietHours(quietHours: QuietHours | null): string | null {
  return quietHours && `${quietHours.from} to ${quietHours.to}, ${quietHours.timeZone}`
}

export function describeKinds(kinds: string[] | null): string {
  return kinds === null
    ? 'All'
    : kinds.map((kind) => kindOf(kind)?.name ?? kind).join(', ') || 'None'
}
