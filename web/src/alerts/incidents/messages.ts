import type { Tone } from '../../ui/feedback/status.tsx'
import { minuteText } from '../../ui/text/dates.ts'
import { counted } from '../../ui/text/format.ts'
import { kindOf } from '../messages.ts'
import type { Incident, Mute } from './api.ts'

export const incidents = {
  title: 'Alerts about problems',
  caption: 'Alerts about problems, open ones first',
  loading: 'Loading problems…',
  none: 'No open alerts.',
  open: (count: number) => (count === 1 ? '1 open alert.' : `${count} open alerts.`),
  unhandled: (count: number) =>
    count === 0 ? 'All are acknowledged, snoozed or muted.' : `${count} not acknowledged yet.`,
  resolved: (count: number) => `${counted(count, 'alert')} resolved.`,
  showResolved: 'Show resolved alerts',
  columns: ['Alert', 'State', 'Severity', 'Topic', 'Opened', 'Sent'],
  filter: 'Filter alerts',
  count: (rows: number) => counted(rows, 'alert'),
  truncated: (shown: number, total: number) => `The newest ${shown} of ${total} alerts.`,
  stateFilter: 'State',
  states: [
    { value: 'open', name: 'Open' },
    { value: 'resolved', name: 'Resolved' },
    { value: 'all', name: 'All' },
  ] as { value: 'open' | 'resolved' | 'all'; name: string }[],
  acknowledge: 'Acknowledge',
  snooze: 'Snooze',
  mute: 'Mute',
  resume: 'Resume alerts',
  failed: (failed: number, all: number) => `${failed} of ${all} problems couldn’t be changed`,
  empty: 'No problems yet',
  emptyHint: 'Monitor a host or a domain, then send a test to check that alerts reach you:',
} as const

const named = (titles: string[]) =>
  titles.length === 1 ? `“${titles[0] ?? ''}”` : counted(titles.length, 'problem')
const titlesOf = (rows: Incident[]) => rows.map(({ title }) => title)

export const done = {
  acknowledged: (rows: Incident[]) => `Acknowledged ${named(titlesOf(rows))}.`,
  snoozed: (rows: Incident[]) => `Snoozed ${named(titlesOf(rows))}.`,
  muted: (names: string[]) => `Muted ${named(names)}.`,
  resumed: (rows: Incident[]) => `Alerts about ${named(titlesOf(rows))} are sent again.`,
  unmutedObject: (name: string) => `Alerts about ${name} are sent again.`,
  failed: (failures: { name: string; reason: string }[]) =>
    failures.map(({ name, reason }) => `${name}: ${reason}`).join('\n'),
} as const

/** Who handles an incident, or that it is open or resolved. */
export function incidentState({ state, mute, snoozedUntil, acknowledgedAt }: Incident): {
  tone: Tone
  word: string
} {
  if (state === 'resolved') return { tone: 'good', word: 'Resolved' }
  if (mute) return { tone: 'unknown', word: 'Muted' }
  if (snoozedUntil !== null) return { tone: 'unknown', word: 'Snoozed' }
  if (acknowledgedAt !== null) return { tone: 'info', word: 'Acknowledged' }
  return { tone: 'bad', word: 'Open' }
}

const untilText = (time: string | null) =>
  time === null ? 'until unmuted' : `until ${minuteText(new Date(time))}`

/** By whom and until when; null where no one handles it. */
export function handlingText(incident: Incident): string | null {
  const { state, mute, snoozedUntil, snoozedBy, acknowledgedAt, acknowledgedBy } = incident
  if (state === 'open' && mute)
    return [`By ${mute.by}, ${untilText(mute.until)}`, mute.reason].filter(Boolean).join(': ')
  if (state === 'open' && snoozedUntil !== null)
    return `By ${snoozedBy ?? ''}, ${untilText(snoozedUntil)}`
  return acknowledgedAt === null ? null : `By ${acknowledgedBy ?? ''}`
}

export const SEVERITY_NAMES = {
  critical: 'Critical',
  error: 'Error',
  warning: 'Warning',
  info: 'Info',
} as const

/** “Topic Blocklists”, or with a whole kind, “Topic Blocklists (blacklist.listed)”. */
function kindName(kind: string): string {
  const name = `Topic ${kindOf(kind)?.name ?? kind}`
  return kind.includes('.') ? `${name} (${kind})` : name
}

export const mutes = {
  title: 'Muted',
  unmute: 'Unmute',
  muteAlerts: 'Mute alerts',
  unmuteAlerts: 'Unmute alerts',
  muteTopic: 'Mute a topic',
  none: 'No alerts are muted.',
  nameOf: ({ label, object, kind }: Mute) =>
    [label || object, kind && kindName(kind)].filter(Boolean).join(' · '),
  details: ({ createdBy, until, reason }: Mute) =>
    [`By ${createdBy}, ${untilText(until)}`, reason].filter(Boolean).join(': '),
} as const

/** Why an alert was not sent. */
export const SILENCED_NAMES = {
  muted: 'Not sent: muted',
  snoozed: 'On hold: snoozed',
  acknowledged: 'Not sent: acknowledged',
  summarised: 'Sent in a summary after the snooze',
} as const
