import { counted, durationText, numberText, sizeText } from '../../ui/text/format.ts'
import type { Batch, Field, MailboxState, ReadMailboxes } from './api.ts'

const mailboxes = (count: number) => counted(count, 'mailbox', 'mailboxes')

export const states: Record<MailboxState, string> = {
  invalid: 'Invalid',
  waiting_for_owner: 'Waits for the owner',
  ready: 'Ready',
  queued: 'Queued',
  syncing: 'Copying',
  in_sync: 'In sync',
  needs_attention: 'Needs attention',
  paused: 'Paused',
  done: 'Done',
}

export const statuses: Record<Batch['status'], string> = {
  ready: 'Ready',
  running: 'Running',
  paused: 'Paused',
  needs_attention: 'Needs attention',
  in_sync: 'In sync',
  finished: 'Finished',
}

/** Causes of problems, by their code. */
const causes: Record<string, string> = {
  invalid: 'invalid line',
  sign_in: 'wrong user or password',
  consent_needed: 'a new sign-in is needed',
  client_rejected: 'sign-in at the provider not set up correctly',
  upstream_rejected: 'rejected by the server',
  upstream_unreachable: 'connection failed',
  upstream_timeout: 'server did not answer in time',
  connection_lost: 'connection lost',
  target_not_allowed: 'server not allowed',
  over_quota: 'destination full',
  same_mailbox: 'source and destination are the same',
  no_progress: 'no progress',
  not_copied: 'some messages were not copied',
  monthly_limit: 'monthly limit reached',
  no_password: 'passwords deleted',
  cancelled: 'stopped',
}

export const causeText = (code: string) => causes[code] ?? 'migration failed'

export const list = {
  title: 'Batches',
  lead: 'Move all mailboxes of a company at once, from a CSV file or a pasted table.',
  back: 'Migrations',
  create: 'New batch',
  open: 'Batches',
  loading: 'Loading batches…',
  empty: 'No batches yet',
  emptyText: 'Create one from a list of mailboxes. Nothing is copied before you start it.',
  yours: 'Your batches',
  columns: { name: 'Batch', progress: 'Progress', status: 'Status', created: 'Created' },
  mailboxes,
  inSync: (done: number, total: number) => `${numberText(done)} of ${mailboxes(total)} in sync`,
  progressOf: (name: string) => `Mailboxes in sync of ${name}`,
  /** Completes a number of mailboxes in sync. */
  emptyOf: (count: number, all: number) => {
    if (count === 0) return ''
    if (count < all) return `, ${numberText(count)} of them empty`
    return all === 1 ? ', but it’s empty' : `, but all ${numberText(all)} are empty`
  },
  attention: (count: number) => `${numberText(count)} ${count === 1 ? 'needs' : 'need'} attention`,
} as const

export const batch = {
  untitled: 'Batch',
  back: 'Batches',
  loading: 'Loading the batch…',
  start: (count: number) => `Start ${mailboxes(count)}`,
  dryRun: 'Dry run',
  again: 'Sync again',
  pause: 'Pause',
  resume: 'Resume',
  finish: 'Finish',
  finishAbout: 'this batch',
  finishTitle: 'Finish this batch?',
  finishText:
    'All passwords are deleted, and the mailboxes can’t be synchronized again. Copied messages are kept.',
  delete: 'Delete',
  deleteTitle: 'Delete this batch?',
  deleteText: 'Its mailboxes and passwords are deleted. Nothing was copied.',
  report: 'Report (CSV)',
  queued: (count: number) => `${mailboxes(count)} queued`,
  problems: 'Problems',
  problem: (count: number, code: string, host: string | null) =>
    `${mailboxes(count)}: ${causeText(code)}${host === null ? '' : ` (${host})`}`,
  retry: 'Retry these',
  retryAbout: (code: string) => `with the problem “${causeText(code)}”`,
  show: 'Show',
  held: (host: string, rejections: number, count: number) =>
    `${host} rejected ${numberText(rejections)} sign-ins in a row. ${mailboxes(count)} ${count === 1 ? 'waits' : 'wait'}, because it may lock accounts out. Correct the passwords, then continue.`,
  heldTitle: 'Sign-ins are on hold',
  continue: 'Continue',
  mailboxes: 'Mailboxes',
  settings: 'Settings',
  stats: {
    mailboxes: 'Mailboxes in sync',
    active: 'Copying',
    messages: 'Messages',
    data: 'Data',
    rate: 'Rate',
    left: 'Time left',
  },
  of: (done: string, total: string) => `${done} of ${total}`,
  rate: (messages: number, bytes: number) =>
    `${numberText(Math.round(messages))} messages/s · ${sizeText(bytes)}/s`,
  about: (seconds: number) => `about ${durationText(seconds)}`,
  sourceLimit: 'Mailboxes at the same time (source)',
  destinationLimit: 'Mailboxes at the same time (destination)',
  folders: 'Sent mail, drafts, trash',
  specialUse: 'To the destination’s own folders',
  sameNames: 'To folders of the same name',
  prefix: 'Parent folder',
  duplicates: 'Duplicates',
  skipped: 'Skipped',
  copied: 'Copied',
  created: 'Created',
  finished: 'Finished',
  verdict({ counts, mailboxes: total, status, emptyMailboxes: empty }: Batch): string {
    const { in_sync: synced = 0, done = 0, needs_attention: failed = 0, ready = 0 } = counts
    const copied =
      status === 'finished'
        ? `${numberText(done)} of ${mailboxes(total)} were copied`
        : `${numberText(synced)} of ${mailboxes(total)} in sync`
    const parts = [`${copied}${list.emptyOf(empty, status === 'finished' ? done : synced)}.`]
    if (empty > 0) parts.push(empty === 1 ? 'Right account?' : 'Right accounts?')
    if (status === 'finished') return parts.join(' ')
    if (ready > 0) parts.push(`${numberText(ready)} ready to start.`)
    if (failed > 0) parts.push(`${list.attention(failed)}.`)
    return parts.join(' ')
  },
} as const

export const table = {
  caption: 'Mailboxes of this batch',
  columns: {
    source: 'Mailbox',
    state: 'State',
    progress: 'Progress',
    size: 'Size',
    errors: 'Errors',
  },
  destination: (user: string, host: string) => `to ${user} on ${host}`,
  account: (user: string | null, host: string | null) => [user ?? '?', host ?? '?'].join(' on '),
  line: (line: number) => `line ${line}`,
  filter: 'Filter by mailbox',
  stateFilter: 'State',
  anyState: (total: number) => `All states (${numberText(total)})`,
  state: (state: MailboxState, count: number) => `${states[state]} (${numberText(count)})`,
  allProblems: 'All problems',
  count: mailboxes,
  progressOf: (user: string) => `Messages of ${user}`,
  done: (done: number, total: number) => `${numberText(done)} of ${counted(total, 'message')}`,
  passes: (count: number) => counted(count, 'sync', 'syncs'),
  empty: 'Empty: 0 messages at the source',
  details: 'Details',
  correct: 'Edit',
  retry: 'Retry',
  remove: 'Remove',
  removeTitle: (count: number) => `Remove ${mailboxes(count)}?`,
  removeText: 'Their passwords are deleted. Copied messages are kept.',
} as const

export const correction = {
  title: (user: string) => `Sign-in of ${user}`,
  hint: 'Leave a field empty to keep it. Passwords are never shown.',
  sourcePassword: 'Source password',
  destinationPassword: 'Destination password',
  source: { host: 'Source host', port: 'Source port', user: 'Source user' },
  destination: {
    host: 'Destination host',
    port: 'Destination port',
    user: 'Destination user',
  },
  submit: 'Save',
  saveAndRetry: 'Save and try again',
  close: 'Cancel',
} as const

export const form = {
  title: 'New batch',
  addTitle: 'Add mailboxes',
  add: 'Add mailboxes',
  addSubmit: (count: number) => `Add ${mailboxes(count)}`,
  updateExisting: 'Update the passwords of mailboxes that the batch has already',
  added: (added: number, updated: number, invalid: number) =>
    `${mailboxes(added)} added, ${numberText(updated)} updated, ${numberText(invalid)} invalid`,
  back: 'Batches',
  name: 'Name',
  nameHint: 'For example the name of the company.',
  mailboxes: 'Mailboxes',
  paste: 'One mailbox per line, with or without a header',
  placeholder: 'user,password\nalice@example.com,secret\nbob@example.com,secret',
  choose: 'Choose a CSV file',
  drop: 'Or drop it here. Files of imapsync, Microsoft 365, MigrationWiz and NethServer are recognized.',
  file: (name: string) => `From the file ${name}`,
  removeFile: 'Remove the file',
  tooLarge: 'The file is larger than 2 MB. Split it.',
  servers: 'Servers',
  enterServers: 'Enter the two servers. Then we check each line.',
  waiting: 'No server yet',
  serversHint: 'Used where a line doesn’t name its own.',
  sourceHost: 'Source host',
  destinationHost: 'Destination host',
  sourceSecurity: 'Source security',
  destinationSecurity: 'Destination security',
  sourcePort: 'Source port',
  sourceSignIn: 'Source sign-in',
  destinationSignIn: 'Destination sign-in',
  destinationPort: 'Destination port',
  security: { tls: 'TLS', starttls: 'STARTTLS' },
  samePassword: 'Use the source password at the destination where a line has none',
  options: 'Options',
  specialUse: 'Copy sent mail, drafts and trash to the destination’s own folders',
  deduplicate: 'Skip messages that are already there',
  allMailOnce: 'Copy only messages from “All mail” that are in no other folder',
  prefix: 'Parent folder (optional)',
  sourceLimit: 'Mailboxes at the same time (source)',
  destinationLimit: 'Mailboxes at the same time (destination)',
  verify: 'Verify the certificates',
  submit: (count: number) =>
    count === 0 ? 'Create batch' : `Create batch with ${mailboxes(count)}`,
  preview: 'Preview',
  reading: 'Reading the list…',
  nothing: 'Enter or choose a list of mailboxes first.',
  columnsTitle: 'Columns',
  column: (at: number) => `Column ${at + 1}`,
  ignore: 'Ignore',
  unknown: 'The columns were not recognized. Choose what each one contains.',
  recognized: {
    imapsync: 'Recognized: a list of imapsync.',
    microsoft: 'Recognized: a list of Microsoft 365.',
    migrationwiz: 'Recognized: a list of MigrationWiz.',
    nethserver: 'Recognized: a list of NethServer.',
    headers: 'Recognized by its headers.',
    mapped: 'Read with the columns that you chose.',
    unknown: '',
  } satisfies Record<ReadMailboxes['format'], string>,
  summary: (valid: number, invalid: number) =>
    invalid === 0
      ? `${mailboxes(valid)}, no invalid lines.`
      : `${mailboxes(valid)}, ${counted(invalid, 'invalid line')}. Invalid lines are kept, so that you can correct them.`,
  previewColumns: ['Line', 'Source', 'Destination', 'Result'],
  ready: 'Ready',
  warning: 'Warning',
  invalid: 'Invalid',
  previewLabel: 'Lines of the list',
  shown: (shown: number, total: number) =>
    `The first ${numberText(shown)} of ${numberText(total)} lines are shown, those with problems first.`,
  fields: {
    user: 'User (both sides)',
    password: 'Password (both sides)',
    sourceHost: 'Source host',
    sourcePort: 'Source port',
    sourceSecurity: 'Source security',
    sourceUser: 'Source user',
    sourceEmail: 'Source address',
    sourcePassword: 'Source password',
    destinationHost: 'Destination host',
    destinationPort: 'Destination port',
    destinationSecurity: 'Destination security',
    destinationUser: 'Destination user',
    destinationEmail: 'Destination address',
    destinationPassword: 'Destination password',
  } satisfies Record<Field, string>,
} as const
