import { counted, durationText, numberText, sizeText } from '../ui/text/format.ts'

const account = (user: string, host: string) => `${user} on ${host}`

const allOf = (messages: number) =>
  messages === 1 ? 'The only message is' : `All ${counted(messages, 'message')} are`

export const statuses = {
  pending: 'Queued',
  dryRunning: 'Checking',
  copying: 'Copying',
  paused: 'Paused',
  needsConsent: 'Needs a sign-in',
  waitsForOwner: 'Waits for the owner',
  dryRunDone: 'Checked',
  completed: 'Completed',
  empty: 'Empty: 0 messages',
  failed: (errors: number) => (errors > 1 ? `Failed: ${counted(errors, 'error')}` : 'Failed'),
} as const

/** The verdict on a migration, in one sentence. */
export const verdicts = {
  queued: (before: number, total: number) =>
    `Queued behind ${before} of ${counted(total, 'migration')}.`,
  next: 'Queued. It starts as soon as a slot is free.',
  scanning: 'Scanning both mailboxes…',
  running: (done: number, total: number) => `${numberText(done)} of ${counted(total, 'message')}`,
  throttled: 'The server asked for a pause.',
  remaining: (seconds: number) => `about ${durationText(seconds)} left`,
  needsConsent: 'Waiting for a new sign-in. Copied messages stay, and it then continues by itself.',
  clientRejected:
    'Waiting until an administrator of this service corrects its client at the provider. It then continues by itself.',
  waitsForOwner: 'Waiting for the owner of the mailbox to sign in. It then continues by itself.',
  paused: 'Paused with its batch. Copied messages stay.',
  cancelled: (done: number) =>
    `Stopped after ${counted(done, 'message')} ${done === 1 ? 'was' : 'were'} copied. Copied messages stay.`,
  nothingCopied: 'No messages were copied. The errors are below.',
  dryRunFailed: 'Some folders can’t be read. The errors are below. No messages were copied.',
  failed: (errors: number) =>
    `Completed with ${counted(errors, 'error')}. All other messages were copied. Retry to copy the rest.`,
  dryRunDone: (messages: number) =>
    `${counted(messages, 'message')} to copy. No messages were copied yet.`,
  empty: 'The source is empty: 0 messages. Is it the right account?',
  completed: (messages: number) => `${allOf(messages)} copied and verified.`,
  completedWithSkipped: (messages: number, copied: number, alreadyThere: number) =>
    `${allOf(messages)} at the destination and verified: ${numberText(copied)} copied, ${numberText(alreadyThere)} already there.`,
} as const

/** Names of folders with a special use (RFC 6154), by attribute. */
export const folderUses: Record<string, string> = {
  '\\inbox': 'Inbox',
  '\\sent': 'Sent',
  '\\drafts': 'Drafts',
  '\\trash': 'Trash',
  '\\junk': 'Junk',
  '\\archive': 'Archive',
  '\\all': 'All mail',
  '\\flagged': 'Flagged',
}

export const list = {
  title: 'Migrations',
  lead: 'Copies folders, messages, flags and dates from one mailbox to another. The source is never changed.',
  create: 'New migration',
  batches: 'Batches',
  signIns: 'Sign-ins',
  loading: 'Loading migrations…',
  empty: 'No migrations yet',
  emptyText: 'Start one with “New migration”, or in a terminal, without an account:',
  command: 'the command',
  yours: 'Your migrations',
  columns: ['Mailboxes', 'Progress', 'Status', 'Created'] as const,
  filter: 'Filter by mailbox',
  messages: 'Messages',
  stopSeveral: (count: number) => `Stop ${counted(count, 'migration')}?`,
  stopText: 'Copied messages stay. You can resume each migration later, from where it stopped.',
  account,
  destination: (user: string, host: string) => `to ${account(user, host)}`,
  dryRun: 'dry run',
  progressOf: (user: string) => `Messages of ${user}`,
  done: (done: number, total: number) => `${numberText(done)} of ${counted(total, 'message')}`,
  /** Failed messages are processed, but not copied. */
  doneWithErrors: (done: number, total: number, errors: number) =>
    `${numberText(done)} of ${counted(total, 'message')} processed, ${counted(errors, 'error')}`,
  total: (total: number) => counted(total, 'message'),
} as const

export const month = {
  used: (used: number, limit: number) =>
    `${numberText(used)} of ${counted(limit, 'migration')} this month`,
  plan: (plan: string) => ` on the ${plan} plan`,
  dryRuns: '. Dry runs don’t count.',
  spent: 'No migrations left this month',
  spentText:
    'You can start the next one next month (UTC), or when an administrator changes your plan.',
} as const

export const wizard = {
  allFolders: 'All folders',
  loading: 'Loading…',
  title: 'New migration',
  back: 'Migrations',
  steps: 'Steps',
  source: 'Source',
  folders: 'Folders',
  destination: 'Destination',
  review: 'Review and start',
  sourceTitle: 'Source mailbox',
  foldersTitle: 'Folders to copy',
  destinationTitle: 'Destination mailbox',
  testSource: 'Test and list folders',
  testDestination: 'Test connection',
  continue: 'Continue',
  partialList:
    'The server doesn’t list its folders. These were found by their usual names. There may be more.',
  account,
  chosen: (folders: number, messages: number) =>
    `${counted(folders, 'folder')}, ${counted(messages, 'message')}`,
} as const

export const folderPicker = {
  all: 'Select all',
  none: 'Select none',
  find: 'Find a folder',
  limit: (folders: number) => ` (up to ${folders} folders at once)`,
  unread: (messages: number) => `${numberText(messages)} unread`,
} as const

export const review = {
  startWaiting: 'Create the migration',
  options: 'Options',
  mapping: 'Destination folders',
  start: 'Start migration',
  dryRun: 'Start dry run',
  dryRunAgain: 'Repeat dry run',
  dryRunHint: 'A dry run maps folders and counts messages. It copies nothing.',
  deduplicate: 'Skip messages that are already there',
  deduplicateHint: 'Skips a message if the destination folder has one with the same Message-ID.',
  allMailOnce: 'Copy only messages from “All mail” that are in no other folder',
  prefix: 'Parent folder (optional)',
  prefixHint: '“Old” copies INBOX to “Old/INBOX”. Without it, folders keep their names.',
  table: 'Folders and their destinations',
  columns: { folder: 'Folder', messages: 'Messages', size: 'Size', destination: 'Destination' },
  message: (count: number) => (count === 1 ? 'message' : 'messages'),
  destinationOf: (path: string) => `Destination of ${path}`,
} as const

export const dryRun = {
  starting: 'Starting the dry run…',
  stale: 'The options changed after this dry run. Repeat it to see their effect.',
  failed: 'The dry run found problems',
  ready: 'Ready to copy',
  found: (messages: number, bytes: number | null) =>
    `${counted(messages, 'message')}${bytes === null ? '' : `, ${sizeText(bytes)}`}. No messages were copied yet.`,
} as const

export const migration = {
  untitled: 'Migration',
  title: (user: string) => `Migration of ${user}`,
  dryRunTitle: (user: string) => `Dry run of ${user}`,
  back: 'Migrations',
  backToBatch: 'Batch',
  loading: 'Loading the migration…',
  resume: 'Resume',
  retry: 'Retry failed messages',
  errors: 'Errors',
  notes: 'Changed messages',
  folders: 'Folders',
  settings: 'Settings',
  processed: 'Messages processed',
  stats: {
    messages: 'Messages processed',
    copied: 'Copied',
    alreadyThere: 'Already there',
    failed: 'Failed',
    data: 'Data processed',
    folders: 'Folders',
    rate: 'Rate',
    remaining: 'Time left',
    duration: 'Duration',
  },
  of: (done: string, total: string) => `${done} of ${total}`,
  /** Announced to screen readers. */
  percent: (percent: number) => `${percent}% processed.`,
  rate: (messagesPerSecond: number, bytesPerSecond: number) =>
    `${numberText(Math.round(messagesPerSecond))} messages/s · ${sizeText(bytesPerSecond)}/s`,
  source: 'Source',
  destination: 'Destination',
  account,
  below: (prefix: string) => `, in ${prefix}`,
  duplicates: 'Duplicates',
  duplicatesSkipped: 'Skipped',
  duplicatesCopied: 'Copied',
  created: 'Created',
  started: 'Started',
  ended: 'Ended',
  stop: 'Stop',
  stopAbout: 'this migration',
  stopTitle: (user: string) => `Stop the migration of ${user}?`,
  stopKeep: 'Keep running',
  stopText: 'Copied messages stay. You can resume the migration later, from where it stopped.',
} as const

export const folderTable = {
  columns: ['Folder', 'Messages', 'Progress', 'Size'],
  rate: 'Rate',
  destination: (path: string) => `to ${path}`,
  of: (done: string, total: string) => `${done} of ${total}`,
  size: (total: number) => ` of ${sizeText(total)}`,
  progressOf: (path: string) => `Progress of ${path}`,
  running: 'in progress',
  rateText: (perSecond: number, secondsLeft: number) =>
    `${numberText(Math.max(1, Math.round(perSecond)))} messages/s, ${durationText(secondsLeft)} left`,
} as const

export const errorTable = {
  columns: ['Message', 'Error', 'Attempts'],
  whole: 'Entire migration',
  message: (uid: number) => `message ${uid}`,
  attempts: (count: number) => counted(count, 'attempt'),
  more: 'Show more',
  total: (count: number, listed: number) =>
    `${counted(count, 'error')} in total. The first ${numberText(listed)} are listed.`,
} as const

export const noteTable = { columns: ['Message', 'Change'] } as const

export const owners = {
  title: 'Waiting for the owner',
  side: { source: 'Source', destination: 'Destination' },
  create: 'Create a link',
  again: 'Create another link',
  of: (side: string, user: string) => `${side}: ${user}`,
  text: 'Send the link to the owner of the mailbox, who signs in without an account here. Portreeve doesn’t show you what they enter.',
  url: 'the link',
  once: 'Copy it now: it isn’t shown again.',
  none: 'No link yet',
  states: {
    waiting: 'Waiting for the owner',
    signed_in: 'Signed in',
    withdrawn: 'Withdrawn by the owner',
    expired: 'The link has expired',
    blocked: 'Too many wrong passwords',
  },
  since: 'Created',
  until: 'Valid until',
  revoke: 'Revoke',
  sectionTitle: 'Owners’ sign-ins',
  createAll: (count: number, side: string) =>
    `Create links for ${counted(count, 'mailbox', 'mailboxes')} (${side.toLowerCase()})`,
  created: (count: number) => `${counted(count, 'link')} created`,
  download: 'Download as CSV',
  downloadHint: 'Download them now: they aren’t shown again.',
  csv: ['Mailbox', 'Server', 'Side', 'Link'],
  caption: 'Links of owners',
  columns: ['Mailbox', 'State', 'Valid until', 'Actions'],
  more: (shown: number, total: number) => `${shown} of ${total} are shown.`,
  linkOf: 'Link for the owner',
  dialogTitle: (user: string) => `Link for the owner of ${user}`,
  close: 'Close',
} as const

export const consent = {
  title: 'Sign in again',
  correct: 'Correct the sign-in',
  source: (user: string) => `Source: ${user}`,
  destination: (user: string) => `Destination: ${user}`,
} as const

export const retry = {
  text: 'Copied messages stay and are not copied again. Passwords and tokens were deleted when the migration ended, so enter them again, or let the owner of a mailbox sign in by a link.',
  source: (secret: string, user: string, host: string) =>
    `Source: ${secret} of ${account(user, host)}`,
  destination: (secret: string, user: string, host: string) =>
    `Destination: ${secret} of ${account(user, host)}`,
  submit: 'Retry',
} as const

export const throughput = {
  title: 'Throughput',
  messages: 'Messages/s',
  megabytes: 'MB/s',
  data: 'Data',
  perSecond: (size: string) => `${size}/s`,
  marks: { throttled: 'Server asked to slow down', lost: 'Connection lost' },
  text: (seconds: number) => `Each bar is the average of ${counted(seconds, 'second')}.`,
  columns: ['Time', 'Messages/s', 'Data', 'Interruptions'],
}
