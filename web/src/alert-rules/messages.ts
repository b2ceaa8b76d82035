import type { Tone } from '../ui/feedback/status.tsx'
import type { Rule } from './api.ts'

export const SEVERITIES = [
  { value: 'critical', label: 'Critical' },
  { value: 'error', label: 'Error and above' },
  { value: 'warning', label: 'Warning and above' },
  { value: 'info', label: 'All severities' },
] as const

/** Severities of one alert. */
export const ALERT_SEVERITIES = [
  { value: 'critical', label: 'Critical' },
  { value: 'error', label: 'Error' },
  { value: 'warning', label: 'Warning' },
  { value: 'info', label: 'Info' },
] as const

export const DAYS = {
  mon: 'Mon',
  tue: 'Tue',
  wed: 'Wed',
  thu: 'Thu',
  fri: 'Fri',
  sat: 'Sat',
  sun: 'Sun',
} as const

export const list = {
  title: 'Alert rules',
  link: 'Rules',
  lead: 'The first rule that matches decides which channels get an alert. Without a match, the settings of the channels decide.',
  loading: 'Loading rules…',
  yours: 'Your rules',
  empty: 'No rules yet',
  emptyHint: 'Every channel gets the alerts that its own settings allow.',
  add: 'Add a rule',
  unnamed: (place: number) => `Rule ${place}`,
} as const

export const card = {
  deleting: (name: string) => `Deleting “${name}”.`,
} as const

export const form = {
  create: 'Add rule',
  save: 'Save rule',
  name: 'Name',
  nameExample: 'Production',
  which: 'Alerts',
  topics: 'Topics',
  topicsHint: 'None selected means all.',
  minSeverity: 'Severity',
  objects: 'Objects',
  objectsHint: 'Hosts, domains, endpoints or mailboxes, one per line. * stands for any characters.',
  labels: 'Labels',
  labelsHint: (inUse: string[]) =>
    inUse.length === 0
      ? 'Separated by commas. One of them is enough.'
      : `Separated by commas. In use: ${inUse.join(', ')}`,
  channels: 'Channels',
  chooseChannel: 'Choose at least one channel.',
  quietHint: 'Alerts wait, and arrive as one summary at the end.',
  days: 'Days',
  criticalAnytime: 'Send critical alerts at any time',
  chooseDay: 'Choose at least one day.',
  escalation: 'Escalation',
  escalationHint: 'Sends the alert to more channels until someone acknowledges it.',
  stepChannels: (place: number) => `Channels of step ${place}`,
  afterFirst: 'Minutes after the alert',
  afterStep: 'Minutes after the step before',
  enterMinutes: 'Enter 1 to 1,440 minutes.',
  addStep: 'Add step',
  removeStep: 'Remove last step',
  repeats: 'Repeats',
  repeatsHint: 'How often the steps follow again, up to 10 times.',
  enterRepeats: 'Enter 0 to 10.',
} as const

export const preview = {
  title: 'Try it',
  hint: 'See which channels an alert would reach now. Nothing is sent.',
  submit: 'Show channels',
  topic: 'Topic',
  severity: 'Severity',
  object: 'Object',
  objectExample: 'mail.example.com',
  gets: 'Gets it at once',
  held: 'Gets it at the end of quiet hours',
  not: 'Doesn’t get it',
  rule: 'Rule',
  labels: 'Labels',
  none: 'None',
  escalation: 'Unless acknowledged:',
} as const

export function ruleState({ enabled, problem }: Rule): { tone: Tone; word: string } {
  if (!enabled) return { tone: 'unknown', word: 'Off' }
  return problem === null ? { tone: 'good', word: 'On' } : { tone: 'warn', word: 'Skipped' }
}
