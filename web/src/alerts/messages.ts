import type { LinkProps } from '@tanstack/react-router'
import type { Tone } from '../ui/feedback/status.tsx'
import type { Channel, Delivery, QuietHours } from './api.ts'

type State = { tone: Tone; word: string }

type AlertKind = { name: string; to: NonNullable<LinkProps['to']> }

/** First words of the kinds of alerts: what they are about, and where that is seen. */
export const ALERT_KINDS: Record<string, AlertKind> = {
  blacklist: { name: 'Blacklists', to: '/monitoring' },
  certificate: { name: 'Certificates', to: '/monitoring' },
  dns: { name: 'DNS records', to: '/monitoring' },
  delisting: { name: 'Delisting', to: '/delisting' },
  dmarc: { name: 'DMARC', to: '/dmarc' },
  migration: { name: 'Migrations', to: '/migrations' },
  channel: { name: 'Alert channels', to: '/alerts/channels' },
}

/** Undefined for what this dashboard has no screen for. */
export function kindOf(kind: string): AlertKind | undefined {
  return ALERT_KINDS[kind.split('.')[0] ?? '']
}

/** The screen that the link of an alert leads to, under whatever address this dashboard was opened. */
export function pathOf(url: string): string {
  return new URL(url).pathname
}

const CHANNELS: Record<Channel['status'], State> = {
  active: { tone: 'good', word: 'On' },
  unconfirmed: { tone: 'warn', word: 'Code awaited' },
  off: { tone: 'unknown', word: 'Off' },
  disabled: { tone: 'bad', word: 'Switched off: it failed' },
  undeliverable: { tone: 'bad', word: 'No mail goes out' },
}

export function channelState({ status }: Channel): State {
  return CHANNELS[status]
}

/** Where it leads. */
export function targetOf({ address, url }: Pick<Channel, 'address' | 'url'>): string {
  return address ?? url ?? ''
}

const DELIVERIES: Record<Delivery['status'], State> = {
  waiting: { tone: 'info', word: 'Waiting' },
  sending: { tone: 'info', word: 'On its way' },
  sent: { tone: 'good', word: 'Sent' },
  failed: { tone: 'bad', word: 'Not sent' },
  uncertain: { tone: 'unknown', word: 'Perhaps sent' },
}

export function deliveryState({ status }: Delivery): State {
  return DELIVERIES[status]
}

export function describeQuietHours(quietHours: QuietHours | null): string | null {
  return quietHours && `${quietHours.from} to ${quietHours.to}, ${quietHours.timeZone}`
}

export function describeKinds(kinds: string[] | null): string {
  return kinds === null ? 'Everything' : kinds.map((kind) => kindOf(kind)?.name ?? kind).join(', ') || 'Nothing'
}
