import { ALERT_KINDS } from '../alerts/messages.ts'
import { quietHoursOf, wrongQuietHours } from '../alerts/quiet-hours.ts'
import type { Rule, RuleBody } from './api.ts'
import { DAYS, form as messages } from './messages.ts'

type Values = Record<string, string>
type Day = keyof typeof DAYS

/** Names of the form’s fields. */
export const fields = {
  topic: (topic: string) => `topic ${topic}`,
  channel: (id: string) => `channel ${id}`,
  day: (day: string) => `day ${day}`,
  minutes: (step: number) => `step ${step} minutes`,
  stepChannel: (step: number, id: string) => `step ${step} channel ${id}`,
} as const

/** Request body for the form’s values. @param before the rule that is edited */
export function bodyOf(values: Values, steps: number, before: Rule | null): RuleBody {
  const hours = quietHoursOf(values)
  return {
    name: values['name']?.trim() ?? '',
    kinds: orNull(kindsOf(values, before)),
    objects: orNull(partsOf(values['objects'], /\n/)),
    labels: orNull(partsOf(values['labels']?.toLowerCase(), /[\s,]+/)),
    minSeverity: values['minSeverity'] === 'info' ? null : (values['minSeverity'] as 'error'),
    channels: idsOf(values, 'channel '),
    quietHours: hours && { days: daysOf(values), ...hours },
    criticalAnytime: hours === null || values['criticalAnytime'] === 'on',
    escalation: values['escalation'] === 'on' ? escalationOf(values, steps) : null,
  }
}

/** Kinds that the form does not offer are kept. */
function kindsOf(values: Values, before: Rule | null): string[] {
  const chosen = Object.keys(ALERT_KINDS).filter((topic) => values[fields.topic(topic)] === 'on')
  const others = before?.kinds?.filter((kind) => !(kind in ALERT_KINDS)) ?? []
  return [...chosen, ...others]
}

function daysOf(values: Values): Day[] {
  return (Object.keys(DAYS) as Day[]).filter((day) => values[fields.day(day)] === 'on')
}

function escalationOf(values: Values, count: number): NonNullable<RuleBody['escalation']> {
  return {
    steps: Array.from({ length: count }, (_, step) => ({
      afterMinutes: Number(values[fields.minutes(step)]),
      channels: idsOf(values, fields.stepChannel(step, '')),
    })),
    repeats: Number(values['repeats'] ?? 0),
  }
}

/** IDs of the selected channels whose field begins so. */
function idsOf(values: Values, prefix: string): string[] {
  return Object.keys(values)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
}

function partsOf(text = '', separator: RegExp): string[] {
  const parts = text.split(separator).map((part) => part.trim())
  return [...new Set(parts.filter((part) => part !== ''))]
}

const orNull = <T>(items: T[]) => (items.length === 0 ? null : items)

/** Error messages by field; empty when the input is valid. */
export function wrongValues(values: Values, steps: number, channelIds: string[]): Values {
  const wrong = wrongQuietHours(values)
  const first = channelIds[0] ?? ''
  if (idsOf(values, 'channel ').length === 0) wrong[fields.channel(first)] = messages.chooseChannel
  if (values['quiet'] === 'on' && daysOf(values).length === 0)
    wrong[fields.day('mon')] = messages.chooseDay
  if (values['escalation'] !== 'on') return wrong
  if (!isWhole(values['repeats'], 0, 10)) wrong['repeats'] = messages.enterRepeats
  for (let step = 0; step < steps; step++) {
    if (!isWhole(values[fields.minutes(step)], 1, 1_440))
      wrong[fields.minutes(step)] = messages.enterMinutes
    if (idsOf(values, fields.stepChannel(step, '')).length === 0)
      wrong[fields.stepChannel(step, first)] = messages.chooseChannel
  }
  return wrong
}

function isWhole(text: string | undefined, least: number, most: number): boolean {
  return /^\d{1,4}$/.test(text ?? '') && Number(text) >= least && Number(text) <= most
}
