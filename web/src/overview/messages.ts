import { counted, numberText } from '../ui/text/format.ts'

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
  incomplete: 'Couldn’t load all problems. Reload the page to try again.',
  inProgress: 'In progress',
  recentActivity: 'Recent activity',
  allActivity: 'All activity',
  domains: 'Watched domains',
  allDomains: (count: number) => `Show all ${numberText(count)}`,
  hosts: 'Monitored hosts',
  allHosts: (count: number) => `Show all ${numberText(count)}`,
  moreProblems: (count: number) => `Show ${counted(count, 'more problem')}`,
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
