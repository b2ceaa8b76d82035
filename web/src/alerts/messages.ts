import type { LinkProps } from '@tanstack/react-router'
import type { Tone } from '../ui/feedback/status.tsx'
import { counted } from '../ui/text/format.ts'
import type { Delivery } from './api.ts'

type State = { tone: Tone; word: string }

type AlertKind = { name: string; to: NonNullable<LinkProps['to']> }

/** First words of alert kinds: their topic and its page, in the order of forms. */
export const ALERT_KINDS: Record<string, AlertKind> = {
  blacklist: { name: 'Blocklists', to: '/monitoring' },
  certificate: { name: 'Certificates', to: '/monitoring' },
  dns: { name: 'DNS records', to: '/monitoring' },
  domain: { name: 'Domains', to: '/domains' },
  delisting: { name: 'Delisting', to: '/delisting' },
  deliverability: { name: 'Deliverability', to: '/mail-tests' },
  dmarc: { name: 'DMARC', to: '/dmarc' },
  migration: { name: 'Migrations', to: '/migrations' },
  cutover: { name: 'Cut-overs', to: '/migrations/batches' },
  webhook: { name: 'Webhooks', to: '/hooks' },
  network: { name: 'Your networks', to: '/attacks/networks' },
  feed: { name: 'Public feeds', to: '/attacks/feeds' },
  relay: { name: 'Relays', to: '/attacks/relays' },
  federation: { name: 'Federation', to: '/attacks/federation' },
  storage: { name: 'Storage', to: '/hooks' },
  channel: { name: 'Alert channels', to: '/alerts/channels' },
}

export const quiet = {
  quiet: 'Quiet hours',
  from: 'From',
  to: 'To',
  timeZone: 'Time zone',
  enterTime: (example: string) => `Enter a time, such as ${example}.`,
} as const

/** The topic of an alert; undefined where this dashboard has no page for it. */
export function kindOf(kind: string): AlertKind | undefined {
  return ALERT_KINDS[kind.split('.')[0] ?? '']
}

export const list = {
  title: 'Problems',
  lead: 'What’s wrong now, and what was wrong.',
  alerts: 'Alerts',
  problems: 'Problems',
  history: 'History',
  historyTitle: 'Alert history',
  historyLead: 'Every alert of the last 180 days with its deliveries.',
  channels: 'Channels',
  loading: 'Loading alerts…',
  topic: 'Topic',
  allTopics: 'All topics',
  count: (count: number) => counted(count, 'alert'),
  noEmail: 'This service can’t send email.',
  noEmailHint: ['Its administrator can set ', ' to a mail relay. Other channels work without it.'],
  noneOfTopic: 'No alerts about this topic.',
  showAll: 'Show all topics',
  empty: 'No alerts yet',
  emptyHint: 'Alerts about hosts, domains, endpoints and migrations appear here.',
  yourChannels: 'your channels',
  deletedChannel: (name: string) => `${name} (deleted)`,
} as const

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
