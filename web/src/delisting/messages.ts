import { counted } from '../ui/text/format.ts'
import type { StepAnswer, Delisting, Step } from './api.ts'

export const list = {
  title: 'Delisting',
  lead: 'Get an IP address removed from every blocklist that lists it. Portreeve never pays for removal.',
  create: 'New delisting',
  loading: 'Loading delistings…',
  filter: 'Filter by IP address',
  filterHint: 'Enter a complete IP address.',
  status: 'Status',
  statuses: {
    all: 'All statuses',
    pending: 'Starting',
    'in-progress': 'In progress',
    completed: 'Delisted',
    failed: 'Partly delisted',
  } satisfies Record<Delisting['status'] | 'all', string>,
  total: (delistings: number) => counted(delistings, 'delisting'),
  empty: 'No delistings yet',
  emptyHint:
    'Start one: Portreeve checks every blocklist and creates a step for each listing. Or use the API:',
  command: 'the command',
  caption: 'Delistings',
  columns: ['IP address', 'Blocklists', 'Status', 'Started'] as const,
  removed: 'Blocklists that removed it',
  listings: 'Listings at the start',
  relisted: 'listed again',
  progress: (ip: string) => `Blocklists that removed ${ip}`,
  delistedFrom: (completed: number, listings: number) =>
    `delisted from ${completed} of ${listings}`,
} as const

export const create = {
  title: 'New delisting',
  lead: 'Portreeve checks every blocklist, which takes a few seconds, and creates a step for each listing.',
  submit: 'Start delisting',
  address: 'IP address',
  enterAddress: 'Enter a public IP address.',
  hint: 'Required before Portreeve emails a blocklist. You can add the cause and the fix later.',
  advice: 'Fix the cause first. Otherwise blocklists refuse the removal or list the address again.',
  inProgress: (ip: string) => `A delisting of ${ip} is already in progress.`,
  open: 'Open this delisting',
} as const

export const causeAndFix = {
  cause: 'Cause of the listing',
  causeExample: 'A mailbox with a guessed password sent spam.',
  enterCause: 'Enter the cause. Blocklists ask for it.',
  fix: 'Fix and date',
  fixExample: 'Its password was changed on 20 November.',
  enterFix: 'Enter what you did to fix the cause.',
  title: 'Cause and fix',
  why: 'Every list asks for them. They go into the texts below.',
  change: 'Change cause and fix',
  save: 'Save cause and fix',
} as const

export const detail = {
  title: (ip: string) => `Delisting of ${ip}`,
  loading: 'Loading delisting…',
  relisted: 'Listed again after',
  earlierDelisting: 'a delisting in the last 30 days',
  relistedAdvice: 'Make sure that the cause is fixed.',
  needsAction: 'Action needed',
  forProvider: 'For your provider',
  inProgress: 'No action needed',
  failed: 'Failed',
  completed: 'Delisted',
  summary: 'Summary',
  activity: 'Activity',
  noActivity: 'No activity yet.',
  activityColumns: ['Blocklist', 'Event', 'Time'],
  address: 'IP address',
  checked: 'Checked',
  lists: (asked: number, unknown: number) =>
    counted(asked, 'blocklist') + (unknown > 0 ? `, ${unknown} without a usable answer` : ''),
  reverseDns: 'Reverse DNS',
  reverseDnsStatus: {
    confirmed: 'resolves back to the address',
    unconfirmed: 'does not resolve back to the address',
    missing: 'No PTR record',
    unknown: 'DNS lookup failed',
  } satisfies Record<NonNullable<Delisting['reverseDns']>['status'], string>,
  cause: 'Cause',
  fix: 'Fix',
  notPursued: 'Skipped',
  started: 'Started',
  ended: 'Ended',
} as const

export const step = {
  openPage: 'Open form',
  of: (blocklist: string) => `of ${blocklist}`,
  copyText: 'Copy text',
  text: 'the text',
  explainFirst: 'Enter cause and fix first.',
  sendEmail: 'Confirm and send email',
  formSubmitted: 'Mark form as submitted',
  emailSent: 'Mark email as sent',
  to: (blocklist: string) => `to ${blocklist}`,
  details: 'Details',
  ownText: 'Your own text instead',
  enterText: 'Enter the text of the email.',
  sendOwn: 'Send your own text',
  checkAgain: 'Check again',
  restart: 'Restart step',
  about: (blocklist: string) => `: ${blocklist}`,
  cancel: 'Cancel step',
  cancelTitle: (blocklist: string) => `Cancel the step for ${blocklist}?`,
  keep: 'Keep step',
  cancelText: 'The step counts as failed. You can restart it later.',
  categories: {
    critical: 'Many receivers reject mail from listed addresses.',
    major: 'Many receivers use this list.',
    minor: 'Few receivers use this list.',
    informational: 'Says little about a single address.',
  } satisfies Record<Step['category'], string>,
  methods: {
    automatic: 'Expires automatically.',
    email: 'Removal by email.',
    form: 'Removal by web form.',
    provider: 'Removal by the network owner only.',
  } satisfies Record<Step['method'], string>,
  statuses: {
    pending: 'Starting',
    running: 'In progress',
    'email-sent': 'Email sent',
    waiting: 'Waiting',
    completed: 'Delisted',
    failed: 'Failed',
  } satisfies Record<Step['status'], string>,
  needs: {
    mend: 'Fix needed',
    confirm: 'Cause and fix needed',
    submit: 'Submit form',
    send: 'Send email',
  } satisfies Record<NonNullable<Step['needs']>, string>,
} as const

export const answers = {
  title: 'Check results',
  zone: 'DNSBL',
  first: 'First check',
  last: 'Latest check',
  unchanged: 'No change, ',
  next: 'Next check',
  deadline: 'Deadline',
  ended: 'Ended',
  attempt: 'Attempt',
  statuses: {
    listed: 'Listed',
    clean: 'Not listed',
    unknown: 'No usable answer',
  } satisfies Record<StepAnswer['status'], string>,
  quoted: (reason: string) => `“${reason}”`,
  lastChecked: (status: StepAnswer['status']) => `${answers.statuses[status]} · last checked`,
} as const

export const request = {
  title: 'Sent request',
  text: 'the text',
  to: 'To',
  subject: 'Subject',
  form: 'Form',
  sent: 'Sent',
  relayReply: 'Relay response',
} as const

/** The status of a delisting in a word or two. */
export const status = {
  completed: 'Delisted',
  failed: 'Partly delisted',
  pending: 'Starting',
  'in-progress': 'In progress',
  stepsNeedAction: (steps: number) =>
    `${counted(steps, 'step')} ${steps === 1 ? 'needs' : 'need'} action`,
} as const

/** Verdict first, then numbers, then the action. */
export const summary = {
  pending: (ip: string, listings: number) =>
    `${ip} is on ${counted(listings, 'blocklist')}. The first step starts within a minute.`,
  completed: (ip: string, listings: number) =>
    listings === 1
      ? `${ip} is off the blocklist.`
      : `${ip} is off all ${counted(listings, 'blocklist')}.`,
  progress: (ip: string, completed: number, listings: number) =>
    `${ip} is off ${completed} of ${counted(listings, 'blocklist')}.`,
  failed: (steps: number) => `${counted(steps, 'step')} failed.`,
  forward: 'Forward the text to your provider.',
  noAction: 'No action needed.',
  needsAction: (steps: number) =>
    `${counted(steps, 'step')} ${steps === 1 ? 'needs' : 'need'} your action.`,
} as const
