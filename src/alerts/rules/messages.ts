// Sentences about alert rules, for the API and the dashboard.
import { WEEKDAYS, type EscalationStep, type RuleQuietHours, type RuleSettings } from './rule.ts'

/** Names of kinds by their first word. */
const MODULE_NAMES: Record<string, string> = {
  blacklist: 'blocklist',
  feed: 'public feed',
  dns: 'DNS',
  dmarc: 'DMARC',
}

const SEVERITY_NAMES = {
  critical: 'Critical',
  error: 'Critical and error',
  warning: 'Critical, error and warning',
  info: 'All',
} as const

const DAY_NAMES = {
  mon: 'Monday',
  tue: 'Tuesday',
  wed: 'Wednesday',
  thu: 'Thursday',
  fri: 'Friday',
  sat: 'Saturday',
  sun: 'Sunday',
} as const

/** Items of a list that a sentence names; the others are counted. */
const MAX_NAMED = 4

/**
 * A rule as a sentence: “Critical blocklist alerts about objects with the label production go to
 * #ops. After 15 minutes without acknowledgement, they go to PagerDuty.”
 * @param channelName name of a channel by its ID; null where it was deleted
 */
export function describeRule(
  rule: RuleSettings,
  channelName: (id: string) => string | null,
): string {
  const names = (ids: string[]) => listed(ids.map((id) => channelName(id) ?? 'a deleted channel'))
  const { quietHours, criticalAnytime, escalation } = rule
  return [
    `${describeConditions(rule)} go to ${names(rule.channels)}.`,
    ...(quietHours ? [describeQuietHours(quietHours, criticalAnytime)] : []),
    ...(escalation ? describeEscalation(escalation.steps, escalation.repeats, names) : []),
  ].join(' ')
}

function describeConditions({ kinds, objects, labels, minSeverity }: RuleSettings): string {
  const about = [
    ...(objects ? [listed(objects, 'or')] : labels ? ['objects'] : []),
    ...(labels ? [`with the label ${listed(labels, 'or')}`] : []),
  ]
  return [
    SEVERITY_NAMES[minSeverity ?? 'info'],
    ...(kinds ? [listed(kinds.map(kindName))] : []),
    'alerts',
    ...(about.length > 0 ? ['about', ...about] : []),
  ].join(' ')
}

/** `blacklist` as blocklist; a whole kind stays as it is. */
function kindName(kind: string): string {
  return kind.includes('.') ? `“${kind}”` : (MODULE_NAMES[kind] ?? kind)
}

function describeQuietHours(
  { days, from, to, timeZone }: RuleQuietHours,
  criticalAnytime: boolean,
): string {
  const on = days.length === WEEKDAYS.length ? '' : ` on ${listed(daysInOrder(days))}`
  const hours = from === to ? `for 24 hours from ${from}` : `from ${from} to ${to}`
  const which = criticalAnytime ? 'Alerts that are not critical wait' : 'They wait'
  return `${which} ${hours}${on} (${timeZone}).`
}

const daysInOrder = (days: RuleQuietHours['days']) =>
  WEEKDAYS.filter((day) => days.includes(day)).map((day) => DAY_NAMES[day])

function describeEscalation(
  steps: EscalationStep[],
  repeats: number,
  names: (ids: string[]) => string,
): string[] {
  const sentences = steps.map(({ afterMinutes, channels }, index) =>
    index === 0
      ? `After ${duration(afterMinutes)} without acknowledgement, they go to ${names(channels)}.`
      : `After ${duration(afterMinutes)} more, to ${names(channels)}.`,
  )
  if (repeats === 0) return sentences
  return [...sentences, `This repeats up to ${repeats === 1 ? 'once' : `${repeats} times`}.`]
}

/** `15 minutes`, `2 hours`. */
function duration(minutes: number): string {
  const [count, unit] = minutes % 60 === 0 ? [minutes / 60, 'hour'] : [minutes, 'minute']
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** `a, b and c`; of longer lists the first items and the number of the others. */
function listed(items: string[], word = 'and'): string {
  const shown =
    items.length > MAX_NAMED
      ? [...items.slice(0, MAX_NAMED - 1), `${items.length - MAX_NAMED + 1} more`]
      : items
  return shown.length < 2
    ? shown.join('')
    : `${shown.slice(0, -1).join(', ')} ${word} ${shown.at(-1)}`
}

/** Why a channel does not get an alert now, or not at all. */
export const channelReasons = {
  deleted: 'The channel was deleted.',
  unconfirmed: 'The address is not confirmed.',
  off: 'The channel is turned off.',
  disabled: 'The service disabled this channel, because it no longer works.',
  undeliverable: 'This service cannot send email.',
  kinds: 'The channel does not receive alerts of this kind.',
  severity: 'The channel receives only alerts that are more urgent.',
} as const

export const ruleProblems = {
  noChannel:
    'Skipped: none of its channels can receive alerts. The next rule that matches decides.',
} as const

/** An alert that is sent again because of an escalation. */
export const escalatedAlert = {
  title: (title: string) => `Not acknowledged: ${title}`,
  text: (minutes: number) => `Escalated after ${duration(minutes)} without acknowledgement.`,
} as const

type DescribedPreview = {
  hasRule: boolean
  ruleName: string | null
  channels: { name: string; receives: boolean; heldUntil: Date | null }[]
}

/** Where an alert would go, in a sentence. */
export function describePreview({ hasRule, ruleName, channels }: DescribedPreview): string {
  const why = hasRule
    ? `The rule ${ruleName ? `“${ruleName}” ` : ''}applies`
    : 'No rule applies, so the settings of the channels decide'
  const [now, later] = [false, true].map((isHeld) =>
    channels.filter(({ receives, heldUntil }) => receives && (heldUntil !== null) === isHeld),
  ) as [typeof channels, typeof channels]
  const names = (some: typeof channels) => listed(some.map(({ name }) => name))
  if (now.length + later.length === 0) return `${why}: no channel receives this alert.`
  const parts = [
    ...(now.length > 0 ? [`${names(now)} ${now.length === 1 ? 'gets' : 'get'} it at once`] : []),
    ...(later.length > 0
      ? [`${names(later)} ${later.length === 1 ? 'gets' : 'get'} it after the quiet hours`]
      : []),
  ]
  return `${why}: ${parts.join(', ')}.`
}
