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
  domains: 'Watched domains',
  allDomains: (count: number) => `Show all ${numberText(count)}`,
  hosts: 'Monitored hosts',
  allHosts: (count: number) => `Show all ${numberText(count)}`,
  moreIssues: (count: number) => `Show ${counted(count, 'more issue')}`,
} as const

/** Issues that need the user's attention: a sentence, and the button beside it. */
export const issues = {
  listedHost: (host: string, blocklists: number) =>
    `${host} is on ${counted(blocklists, 'blocklist')}.`,
  moreListedHosts: (count: number) =>
    `${counted(count, 'more host')} ${count === 1 ? 'is' : 'are'} listed.`,
  viewListings: 'View listings',
  brokenDomain: (domain: string) => `${domain} has a problem.`,
  viewDomain: 'View fixes',
  certificate: (host: string, fact: string) => `Certificate of ${host}: ${fact}.`,
  moreCertificates: (count: number) =>
    count === 1
      ? '1 more host has a problem with a certificate.'
      : `${counted(count, 'more host')} have a problem with a certificate.`,
  viewHost: 'View host',
  viewHosts: 'View hosts',
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
  summary: (done: number, total: number) => `First steps: ${done} of ${total} done`,
  done: 'Done:',
  checkDomain: (domain: string) => `Check ${domain}`,
  commandLine: 'Everything works on the command line and over the API, too. See the',
  tutorial: 'All of it in fifteen minutes: the tutorial',
  documentation: 'API documentation',
  steps: {
    check: {
      title: 'Check a domain',
      text: 'SPF, DKIM, DMARC, certificates, name servers and blocklists, with the records to fix.',
      action: 'Check a domain',
    },
    dmarc: {
      title: 'Receive DMARC reports',
      text: 'See who sends mail as your domain, and when it’s safe to enforce.',
      action: 'Add a domain',
    },
    monitor: {
      title: 'Monitor a host',
      text: 'Get one alert per change of its blocklists, certificate and DNS records.',
      action: 'Add a host',
    },
    migrate: {
      title: 'Migrate a mailbox',
      text: 'Copies folders, messages, flags and dates, and verifies every message.',
      action: 'Start a migration',
    },
    webhook: {
      title: 'Capture a webhook',
      text: 'A URL that stores every request sent to it, and answers as you choose.',
      action: 'Add an endpoint',
    },
    attacks: {
      title: 'Report and block attackers',
      text: 'Connects fail2ban on your servers to this service.',
      action: 'Connect a server',
    },
  },
} as const
