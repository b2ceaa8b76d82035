import type { Tone } from '../ui/status.tsx'
import type { Channel, Delivery, QuietHours } from './api.ts'

type Standing = { tone: Tone; word: string }

/** First words of the kinds of alerts, and what they are about. */
export const KINDS: Record<string, string> = {
  blacklist: 'Blacklists',
  certificate: 'Certificates',
  dns: 'DNS records',
  delisting: 'Delisting',
  dmarc: 'DMARC',
  channel: 'Alert channels',
}

export function kindName(kind: string): string {
  const [word = kind] = kind.split('.')
  return KINDS[word] ?? word
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
  return kinds === null ? 'Everything' : kinds.map(kindName).join(', ') || 'Nothing'
}
