import { counted, durationText, numberText } from '../../ui/text/format.ts'

export const relays = {
  title: 'Relays',
  lead: 'Your servers report once. This service passes their reports on: address, service, port, count and time, and nothing else.',
  services: 'Services',
  loading: 'Loading the relays…',
  states: { off: 'Not used', paused: 'Paused', on: 'Active', stopped: 'Stopped', disabled: 'Off' },
  stopped: 'Nothing is sent until you enter the key again.',
  limits: (perDay: number, addressSeconds: number) =>
    `Up to ${numberText(perDay)} reports a day, each address once in ${durationText(addressSeconds)}.`,
  facts: {
    key: 'Key',
    account: 'Account',
    waiting: 'Waiting',
    sent: 'Sent in 24 hours',
    rejected: 'Rejected in 24 hours',
    dropped: 'Dropped',
    lastSent: 'Last sent',
    pausedUntil: 'Continues',
  },
  key: (lastFour: string) => `ends in ${lastFour}`,
  droppedText: (count: number) => `${counted(count, 'report')} when the queue was full`,
  change: 'Change the settings',
  where: 'Where to find it',
  keepKey: 'Leave empty to keep the known one.',
  save: 'Save',
  start: 'Relay reports',
  enabled: 'Relay new reports',
  test: 'Test key',
  remove: 'Remove',
  removeTitle: (name: string) => `Stop relaying to ${name}?`,
  removeText: 'The key and waiting reports are deleted. Reports that were sent stay there.',
} as const

export const reports = {
  title: 'Relayed reports',
  empty: 'No reports yet. Reports with a report token of this workspace appear here.',
  columns: ['Address', 'Relay', 'State', 'Reported'],
  states: {
    waiting: 'Waiting',
    sending: 'Sending',
    sent: 'Sent',
    rejected: 'Rejected',
    uncertain: 'Unknown',
  },
  attacked: (services: string, count: number) => `${services}, ${counted(count, 'event')}`,
} as const
