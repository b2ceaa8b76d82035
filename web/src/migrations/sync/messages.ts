import { counted } from '../../ui/text/format.ts'

type Changes = { copied: number; flags: number; moved: number; deleted: number; applied: number }

/** Intervals to choose from, in minutes. */
export const intervals = [
  { minutes: 5, label: 'Every 5 minutes' },
  { minutes: 15, label: 'Every 15 minutes' },
  { minutes: 30, label: 'Every 30 minutes' },
  { minutes: 60, label: 'Every hour' },
  { minutes: 240, label: 'Every 4 hours' },
  { minutes: 1_440, label: 'Every day' },
] as const

export const sync = {
  title: 'Synchronization',
  about: 'Keeps the new mailbox up to date until you stop it.',
  every: 'Interval',
  everyMinutes: (minutes: number) =>
    intervals.find((one) => one.minutes === minutes)?.label ??
    `Every ${counted(minutes, 'minute')}`,
  apply: 'Delete copies of messages that are deleted at the source',
  applyHint: 'Only copies of this migration are deleted.',
  deletions: 'Deleted messages',
  deletionsOf: { record: 'Their copies stay', apply: 'Their copies are deleted' },
  setUp: 'Set up',
  changeSettings: 'Change',
  start: 'Synchronize',
  change: 'Save and synchronize now',
  end: 'End synchronization',
  endTitle: 'End the synchronization?',
  endText: 'Messages already copied stay. The passwords are deleted when the migration has ended.',
  endBatchText: 'Messages already copied stay. The passwords stay until you finish the batch.',
  lastPass: 'Last pass',
  nextPass: 'Next pass',
  isRunning: 'In progress',
  needsAction: 'After you retry',
  changes: 'Changed',
  error: 'Problem',
  passes: 'Passes',
  endsAt: 'Ends by itself',
  held: 'Not deleted yet',
  heldMessages: (count: number) =>
    `${counted(count, 'copy', 'copies')}: more than half of a folder disappeared at once`,
  confirm: 'Delete copies',
  confirmTitle: 'Delete these copies?',
  confirmText: (count: number) =>
    `${counted(count, 'message')} disappeared from the source at once. Check that they were deleted there. The next pass deletes their copies.`,
  failing: 'Failing',
  failingMailboxes: (count: number) => counted(count, 'mailbox', 'mailboxes'),
  recorded: 'Deleted at the source',
  recordedMessages: (count: number) => `${counted(count, 'message')} with a copy`,
  describe: ({ copied, flags, moved, deleted, applied }: Changes) => {
    const parts = [
      copied > 0 && counted(copied, 'new message'),
      flags > 0 && `flags of ${counted(flags, 'message')}`,
      moved > 0 && `${counted(moved, 'message')} moved`,
      deleted > 0 && `${counted(deleted, 'message')} deleted at the source`,
      applied > 0 && `${counted(applied, 'copy', 'copies')} deleted`,
    ].filter((part) => part !== false)
    return parts.length > 0 ? parts.join(', ') : 'Nothing new'
  },
} as const
