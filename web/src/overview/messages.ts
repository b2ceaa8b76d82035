import { counted, numberText } from '../ui/text/format.ts'

export const overview = {
  title: 'Overview',
  loading: 'Loading…',
  greeting: (name = '') => (name ? `Good to see you, ${name}` : 'Good to see you'),
  issueCount: (count: number) =>
    count === 0
      ? 'No issues'
      : `${counted(count, 'issue')} ${count === 1 ? 'needs' : 'need'} your attention`,
  inProgress: 'In progress',
  recentActivity: 'Recent activity',
  allActivity: 'All activity',
  hosts: 'Your hosts',
  allHosts: (count: number) => `All ${count} hosts`,
  monitoring: 'Monitoring',
} as const

/** Issues that need the user's attention: a sentence, and the button beside it. */
export const issues = {
  listedHost: (host: string, blocklists: number) =>
    `${host} is on ${counted(blocklists, 'blocklist')}.`,
  viewListings: 'View listings',
  failedMigration: (user: string, errors: number) =>
    `Migration of ${user} failed with ${counted(errors, 'error')}.`,
  reviewMigration: 'Review migration',
  delisting: (ip: string, steps: number) =>
    `Delisting ${ip}: ${counted(steps, 'step')} ${steps === 1 ? 'needs' : 'need'} your action.`,
  continueDelisting: 'Continue',
  failingMailbox: (user: string, host: string) =>
    `Can’t read reports from mailbox ${user} on ${host}.`,
  viewMailbox: 'View mailbox',
  unconfirmedChannel: (target: string) =>
    `Alert channel ${target} isn’t confirmed: enter the code we sent there.`,
  disabledChannel: (target: string) =>
    `Alerts to ${target} were turned off after repeated failures.`,
  undeliverableChannel: (target: string) =>
    `Alerts to ${target} can’t be delivered: email isn’t configured.`,
  viewChannels: 'View channels',
  unverifiedDomain: (domain: string) => `Verify ${domain}: publish its DMARC record.`,
  viewRecord: 'View record',
  heldList: 'The new attack blocklist is on hold: it differs too much from the last one.',
  appeals: (count: number) => `${counted(count, 'appeal')} to review.`,
  candidates: (count: number) =>
    `${counted(count, 'reported address', 'reported addresses')} to list or discard.`,
  review: 'Review',
} as const

export const inProgress = {
  delisting: (ip: string) => `Delisting of ${ip}`,
  migration: (user: string, isDryRun: boolean) =>
    `${isDryRun ? 'Dry run' : 'Migration'} of ${user}`,
  messages: (done: number, total: number) => `${numberText(done)} of ${counted(total, 'message')}`,
  progressLabel: (user: string) => `Messages of ${user}`,
} as const

export const firstSteps = {
  title: 'First steps',
  summary: 'API and CLI quick start',
  intro: 'Open a screen by its name, or run its command. For commands, create an',
  token: 'API token',
  introThen: 'and run `export PORTREEVE_TOKEN=prv_…` first. See the',
  documentation: 'API documentation',
  command: (name: string) => `the command: ${name}`,
  steps: {
    check: {
      name: 'Check a domain',
      words:
        'DMARC, SPF and DKIM, certificate and DNS records. Runs where Portreeve is installed, without a token.',
    },
    monitor: {
      name: 'Monitor a host',
      words: 'Monitors blocklists, certificate and DNS records, and alerts you once per change.',
    },
    dmarc: {
      name: 'Receive DMARC reports',
      words:
        'See who sends mail as your domain, and when it’s safe to enforce. The response contains the record to publish.',
    },
    migrate: {
      name: 'Migrate a mailbox',
      words:
        'Copies folders, messages, flags and dates, and verifies every message. Prompts for the passwords.',
    },
    attacks: {
      name: 'Report and block attackers',
      words: 'Connects a server’s fail2ban to this Portreeve.',
    },
    webhook: {
      name: 'Capture a webhook',
      words: 'Creates a URL that stores every request sent to it. The response contains it.',
    },
  },
} as const
