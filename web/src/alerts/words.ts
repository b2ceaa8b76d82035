import type { LinkProps } from '@tanstack/react-router'
import type { Tone } from '../ui/feedback/status.tsx'
import type { Channel, Delivery, QuietHours } from './api.ts'

type Standing = { tone: Tone; word: string }

type Kind = { name: string; to: NonNullable<LinkProps['to']> }

/** First words of the kinds of alerts: what they are about, and where that is seen. */
export const KINDS: Record<string, Kind> = {
  blacklist: { name: 'Blacklists', to: '/monitoring' },
  certificate: { name: 'Certificates', to: '/monitoring' },
  dns: { name: 'DNS records', to: '/monitoring' },
  delisting: { name: 'Delisting', to: '/delisting' },
  dmarc: { name: 'DMARC', to: '/dmarc' },
  migration: { name: 'Migrations', to: '/migrations' },
  channel: { name: 'Alert channels', to: '/alerts/channels' },
}

/** Undefined for what this dashboard has no screen for. */
export function kindOf(kind: string): Kind | undefined {
  return KINDS[kind.split('.')[0] ?? '']
}

/** The screen that the link of an alert leads to, under whatever address this dashboard was opened. */
export function pathOf(url: string): string {
  return new URL(url).pathname
}

const CHANNELS: Record<Channel['status'], Standing> = {
  active: { tone: 'good', word: 'On' },
  unconfirmed: { tone: 'warn', word: 'Code awaited' },
  off: { tone: 'unknown', word: 'Off' },
  disabled: { tone: 'bad', word: 'Switched off: it failed' },
  undeliverable: { tone: 'bad', word: 'No mail goes out' },
}

export function standing({ status }: Channel): Standing {
  return CHANNELS[status]
}

/** Where it leads. */
export function targetOf({ address, url }: Pick<Channel, 'address' | 'url'>): string {
  return address ?? url ?? ''
}

const DELIVERIES: Record<Delivery['status'], Standing> = {
  waiting: { tone: 'info', word: 'Waiting' },
  sending: { tone: 'info', word: 'On its way' },
  sent: { tone: 'good', word: 'Sent' },
  failed: { tone: 'bad', word: 'Not sent' },
  uncertain: { tone: 'unknown', word: 'Perhaps sent' },
}

export function deliveryStanding({ status }: Delivery): Standing {
  return DELIVERIES[status]
}

export function quietText(quietHours: QuietHours | null): string | null {
  return quietHours && `${quietHours.from} to ${quietHours.to}, ${quietHours.timeZone}`
}

export function kindsText(kinds: string[] | null): string {
  return kinds === null ? 'Everything' : kinds.map((kind) => kindOf(kind)?.name ?? kind).join(', ') || 'Nothing'
}
