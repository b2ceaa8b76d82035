import { counted, numberText } from '../ui/text/format.ts'

/** Hosts that a sentence names. */
const MAX_NAMES = 3

export const overview = {
  setup: 'Left to set up',
  administration: 'For administrators',
  title: 'Overview',
  loading: 'Loading…',
  greeting: (name = '') => (name ? `Good to see you, ${name}` : 'Good to see you'),
  problemCount: (count: number) =>
    count === 0
      ? 'No problems'
      : `${counted(count, 'problem')} ${count === 1 ? 'needs' : 'need'} your attention`,
  inProgress: 'In progress',
  recentActivity: 'Recent activity',
  allActivity: 'All activity',
  domains: 'Watched domains',
  allDomains: (count: number) => `Show all ${numberText(count)}`,
  hosts: 'Monitored hosts',
  allHosts: (count: number) => `Show all ${numberText(count)}`,
  moreProblems: (count: number) => `Show ${counted(count, 'more problem')}`,
} as const

/** Problems that need the user's attention: a sentence, and the button beside it. */
export const problems = {
  listedHost: (host: string, blocklists: number) =>
    `${host} is on ${counted(blocklists, 'blocklist')}.`,
  moreListedHosts: (count: number) =>
    `${counted(count, 'more host')} ${count === 1 ? 'is' : 'are'} listed.`,
  listedAddress: (address: string, blocklists: number, hosts: number, domains: number) =>
    `${address} is on ${counted(blocklists, 'blocklist')} (${[
      counted(hosts, 'host'),
      domains > 0 && counted(domains, 'domain'),
    ]
      .filter(Boolean)
      .join(', ')}).`,
  startDelisting: 'Start delisting',
  viewListings: 'View listings',
  brokenDomain: (domain: string) => `${domain} has a problem.`,
  viewDomain: 'View fixes',
  hostNames: (names: string[]) => {
    const more = names.length - MAX_NAMES
    const shown = names.slice(0, MAX_NAMES).join(', ')
    return more > 0 ? `${shown} and ${numberText(more)} more` : shown
  },
  /** The sentence about the hosts that show a certificate. */
  certificate: ({ state, daysRemaining }: { state: string; daysRemaining: number }) => {
    const ends = {
      expired: 'has expired',
      untrusted: 'isn’t trusted',
      'not-yet-valid': 'isn’t valid yet',
    }
    const fact = ends[state as keyof typeof ends] ?? `expires in ${counted(daysRemaining, 'day')}`
    return state === 'wrong-host'
      ? (hosts: string) =>
          `${hosts} ${hosts.includes(', ') ? 'show' : 'shows'} the certificate of another host.`
      : (hosts: string) => `The certificate of ${hosts} ${fact}.`
  },
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
  unverifiedDomains: (count: number) => `${counted(count, 'domain')} aren’t verified.`,
  viewDomains: 'View domains',
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
    mailTest: {
      title: 'Test your mail',
      text: 'Send a mail to a test address, and read why it may land in spam.',
      action: 'Test a mail',
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
