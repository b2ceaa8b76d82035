import { counted } from '../../ui/text/format.ts'

export const durations = {
  label: 'Duration',
  until: 'Until',
  hour: '1 hour',
  hours: (count: number) => `${count} hours`,
  day: '1 day',
  week: '1 week',
  days: (count: number) => `${count} days`,
  noEnd: 'Until unmuted',
  chosenTime: 'Until a date and time',
  outOfRange: (minutes: number, days: number) =>
    `Choose a time between ${minutes} minutes and ${days} days from now.`,
} as const

export const snoozeDialog = {
  title: (count: number) => (count === 1 ? 'Snooze this problem' : `Snooze ${count} problems`),
  text: 'No messages until then. If the problem is still open, you get a reminder.',
  submit: 'Snooze',
} as const

export const muteDialog = {
  title: (count: number) => (count === 1 ? 'Mute this problem' : `Mute ${count} problems`),
  objectTitle: (name: string) => `Mute alerts about ${name}`,
  topicTitle: 'Mute a topic',
  text: 'Muted alerts are still recorded, but not sent.',
  scope: 'What to mute',
  onlyThese: (count: number) =>
    count === 1 ? 'Only this problem' : `Only these ${counted(count, 'problem')}`,
  topic: 'Topic',
  ofTopic: (name: string) => `All alerts of the topic “${name}”`,
  reason: 'Reason (optional)',
  submit: 'Mute',
} as const
