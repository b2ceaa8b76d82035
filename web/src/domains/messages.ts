import {
  FIXES_TITLE,
  NOT_USED,
  OTHER_PROBLEMS_TITLE,
  SEVERITY_NAMES,
} from '../../../src/domains/messages.ts'
import { counted, numberText } from '../ui/text/format.ts'
import type { DomainHistory } from './api.ts'

export {
  STAGE_TITLES as stageTitles,
  STATE_NAMES as stateNames,
} from '../../../src/domains/messages.ts'
import type { StageName } from './stages.ts'

/** Names that a note lists. */
const MAX_LISTED_NAMES = 5

function shortList(names: string[]): string {
  const more = names.length - MAX_LISTED_NAMES
  const shown = names.slice(0, MAX_LISTED_NAMES).join(', ')
  return more > 0 ? `${shown} and ${numberText(more)} more` : shown
}

export const domainPages = {
  title: 'Domains',
  lead: 'Type a domain to see everything about its mail: who may send, how it is received, and its reputation.',
  field: 'Domain',
  fieldExample: 'example.com',
  submit: 'Check domain',
  notADomain: 'Enter a domain, such as example.com.',
  titleOf: (domain: string) => domain,
  checkAgain: 'Check again',
  checking: 'Checking…',
  fixesPending: 'Records to publish appear here as soon as they are known.',
  stillChecking: (checks: number) =>
    checks === 1 ? '1 check is still running.' : `${numberText(checks)} checks are still running.`,
  loading: 'Loading…',
  progress: (done: number, total: number) =>
    `${numberText(done)} of ${numberText(total)} checks done`,
  checkedAt: 'Checked',
  checkAddress: 'Check an address or host instead',
} as const

/** The stages in one short word, below the marks of a card. */
export const shortStageTitles: Record<StageName, string> = {
  sender: 'Sender',
  authentication: 'Auth',
  mx: 'MX',
  tls: 'TLS',
  reputation: 'Lists',
}

export const path = {
  title: 'Mail path',
  summary: (name: string, state: string) => `${name}: ${state}`,
  waiting: 'Waiting',
} as const

export const lines = {
  title: 'All checks',
  notUsed: NOT_USED,
  details: 'Details',
  notPrinted: (count: number) => `… and ${numberText(count)} more, not printed`,
  showAll: (count: number) => `Show ${counted(count, 'check')} without problems`,
  hide: 'Hide checks without problems',
} as const

export const fixes = {
  title: FIXES_TITLE,
  others: OTHER_PROBLEMS_TITLE,
  explanation: 'Copy each record to your DNS. We’ll see when it’s live.',
  /** For readers of a shared check, who cannot wait for a record here. */
  sharedExplanation: 'Each record replaces what is published now.',
  none: 'No records to change.',
  notPrinted: (names: string[]) =>
    `${counted(names.length, 'more record')} not printed: ${shortList(names)}.`,
  record: (name: string, type: string) => `${name} ${type}`,
  copyRecord: (name: string) => `the record for ${name}`,
  published: 'Published now',
  proposed: 'Publish this',
  nothing: 'No record',
  why: 'Why',
  watch: 'Tell me when it’s live',
  stop: 'Cancel',
  severities: SEVERITY_NAMES,
  looking: 'Asking the name servers…',
  notYet: 'Not published yet. Checking every 10 seconds.',
  onSome: (matching: number, all: number) =>
    `${numberText(matching)} of ${counted(all, 'name server')} have the change. Checking every 10 seconds.`,
  /** @param ttl seconds for which the resolver may still have the old record */
  unanswered: (ttl: number | null) =>
    `The name servers of the zone do not answer this service, so only the resolver is asked${
      ttl === null
        ? ''
        : `, which may have the old record for another ${counted(Math.ceil(ttl / 60), 'minute')}`
    }. Checking every 10 seconds.`,
  done: 'It’s live on all name servers.',
  doneWhereAnswered: 'It’s live on the name servers that answered.',
  doneAtResolver: 'It’s live. (We couldn’t ask your name servers directly.)',
  checkAgain: 'Check the domain again',
  visibleBy: 'Visible to everybody by',
} as const

export const list = {
  title: 'Your domains',
  none: 'No domains yet. Check one, then watch it.',
  watched: 'Watched',
  notWatched: 'Not watched',
  hosts: (count: number) => counted(count, 'monitored host'),
  checked: 'Checked',
  /** The verdict below the name of its domain, which it need not repeat. */
  verdict: (domain: string, sentence: string) => {
    const rest = sentence.startsWith(`${domain} `) ? sentence.slice(domain.length + 1) : sentence
    return rest.charAt(0).toUpperCase() + rest.slice(1)
  },
  lastChecked: 'Last checked',
  never: 'never',
  filter: 'Filter by domain, result or label',
  view: 'View',
  views: [
    { value: 'cards', name: 'Cards' },
    { value: 'table', name: 'Table' },
  ] satisfies { value: 'cards' | 'table'; name: string }[],
  columns: {
    domain: 'Domain',
    state: 'State',
    result: 'Result',
    watched: 'Watched',
    hosts: 'Monitored hosts',
  },
  watch: 'Watch',
  unwatch: 'Stop watching',
  unwatchTitle: (count: number) => `Stop watching ${counted(count, 'domain')}?`,
  unwatchText: 'The history of their records is deleted. Monitored hosts and DMARC reports stay.',
  noMatch: 'No domain matches the filter.',
} as const

export const importing = {
  label: 'Watch several',
  title: 'Watch several domains',
  hint: 'Web and email addresses count as their domain. Their mail servers, DMARC reports and alerts follow within minutes.',
  submit: (count: number) => (count === 0 ? 'Watch domains' : `Watch ${counted(count, 'domain')}`),
} as const

export const watching = {
  watch: 'Watch this domain',
  explanation:
    'Monitors its hosts, certificates and records, receives its DMARC reports, and alerts you.',
  watched: 'Watched',
  unwatch: 'Stop watching',
  on: 'You’re watching this domain.',
  monitors: (hosts: string[]) => `Monitored: ${hosts.join(', ')}.`,
  problems: 'Some parts couldn’t be switched on',
} as const

/** The lists of domains. */
export const views = {
  label: 'Domains',
  domains: 'All domains',
  dmarc: 'DMARC reports',
  mailTests: 'Mail tests',
} as const

/** The screens of a domain. */
export const tabs = {
  health: 'Health',
  dmarc: 'DMARC',
  reports: 'Reports',
  tls: 'TLS reports',
  record: 'DNS record',
  deliverability: 'Deliverability',
  hosts: 'Hosts',
} as const

export const links = {
  sendReports: 'Send the reports to Portreeve',
  checks: 'Single checks',
  host: (name: string) => `Monitored: ${name}`,
  hosts: (count: number) => counted(count, 'monitored host'),
  delist: (address: string) => `Start delisting ${address}`,
} as const

export const history = {
  title: 'Last 90 days',
  notPrinted: 'The history of the domain isn’t printed.',
  loading: 'Loading the history…',
  passRate: 'Messages that passed DMARC',
  chartText: (pass: number, total: number) =>
    `${numberText(pass)} of ${counted(total, 'message')} passed.`,
  passed: 'Passed',
  failed: 'Failed',
  dayColumns: ['Day (UTC)', 'Passed', 'Failed'],
  openDay: (day: string) => `Show the reports of ${day}`,
  noEvents: 'No changes recorded.',
  kinds: {
    record: 'Record',
    listing: 'Blocklist',
    certificate: 'Certificate',
    verdict: 'Verdict',
    line: 'Check',
  } satisfies Record<DomainHistory['events'][number]['kind'], string>,
  change: (before: string, after: string) => `${before || 'none'} → ${after || 'none'}`,
} as const
