import type { Tone } from '../ui/feedback/status.tsx'
import { counted, durationText, numberText } from '../ui/text/format.ts'
import type {
  Host,
  HostChange,
  HostCounts,
  HostDetail,
  Listing,
  ListMode,
  MonitoredKind,
} from './api.ts'

type State = { tone: Tone; word: string }

const countedLists = (count: number) => counted(count, 'blocklist')

/** The screens about servers and addresses. */
export const views = {
  label: 'Servers and addresses',
  hosts: 'Hosts',
  delisting: 'Delisting',
  networks: 'Your networks',
} as const

export const hosts = {
  title: 'Servers & IPs',
  lead: 'Checks blocklists, certificates and DNS around the clock, and alerts you once per change.',
  blocklists: 'Blocklists',
  loading: 'Loading hosts…',
  caption: 'Your hosts',
  columns: ['Host', 'Status', 'Certificate', 'Last 30 days', 'Last checked'] as const,
  noCertificate: 'none',
  notChecked: 'not yet',
  /** @param days that the host has been monitored, up to 30 */
  clean: (percent: string, days: number) => {
    if (percent !== '0%') return `${percent} clean`
    return days < 30 ? 'listed all the time' : 'listed all 30 days'
  },
  noAvailability: 'checking…',
  filter: 'Filter by name or label',
  status: 'Status',
  statuses: [
    { value: '', name: 'All statuses' },
    { value: 'listed', name: 'Listed' },
    { value: 'unknown', name: 'Unknown' },
    { value: 'clean', name: 'Clean' },
  ] satisfies { value: Host['status'] | ''; name: string }[],
  count: (count: number) => counted(count, 'host'),
  listings: 'Listings',
  unknown: 'Unknown results',
  checkNow: 'Check now',
  checkFailed: (failed: number, all: number) =>
    `${numberText(failed)} of ${counted(all, 'host')} couldn’t be checked:`,
  stop: 'Stop monitoring',
  removing: (names: string[]) =>
    names.length === 1
      ? `Deleting ${names[0]} and its history…`
      : `Deleting ${counted(names.length, 'host')} and their history…`,
  empty: 'No monitored hosts yet',
  emptyHint: 'Start with the server that sends your mail. Or use the API:',
  command: 'the command',
} as const

/** Texts of the cards of the overview. */
export const cards = {
  noLabel: 'No label',
} as const

/** A certificate in a few words: its days, or its problem. */
export function certificateText(certificate: NonNullable<Host['certificate']>): string {
  return `Certificate: ${certificateStatus(certificate).word.toLowerCase()}`
}

/** `12 days left`, or the problem of a certificate. */
export function certificateStatus(certificate: NonNullable<Host['certificate']>): State {
  const { state, daysRemaining } = certificate
  const { tone, word } = certificateState(state)
  const isEnding = state === 'valid' || state.startsWith('expiring')
  return { tone, word: isEnding ? `${counted(daysRemaining, 'day')} left` : word }
}

export const create = {
  title: 'Monitor a host',
  submit: 'Start monitoring',
  host: 'Host name or IP address',
  enterHost: 'Enter a host name or an IP address.',
  label: 'Label',
  labelExample: 'outgoing mail',
} as const

export const importing = {
  label: 'Add several',
  title: 'Add several hosts',
  hint: 'A label can follow after a comma.',
  submit: (count: number) => (count === 0 ? 'Add hosts' : `Add ${counted(count, 'host')}`),
} as const

export const host = {
  untitled: 'Monitored host',
  back: 'Monitoring',
  loading: 'Loading host…',
  checkNow: 'Check now',
  settings: 'Settings',
  remove: 'Stop monitoring',
  removing: (name: string) => `Deleting ${name} and its history…`,
  listings: 'Listings',
  certificates: 'Certificates',
  records: 'DNS records',
  addresses: 'Addresses',
  checks: 'Checks',
  stats: {
    clean: (days: number) => `Clean, last ${counted(days, 'day')}`,
    listedFor: 'Listed for',
    unknownFor: 'Unknown for',
    results: 'Results',
    unknown: 'Unknown results',
    domains: (count: number) => (count > 1 ? 'Domains' : 'Domain'),
    lastChecked: 'Last checked',
    nextCheck: 'Next check',
  },
  due: (minutes: number) => (minutes <= 0 ? 'now' : `in ${minutes} min`),
} as const

export const listings = {
  caption: 'Listings',
  columns: ['Blocklist', 'Status', 'Reason', 'Action'],
  since: 'since',
  mute: 'Ignore',
  muteAbout: (name: string) => `${name} for this host`,
  viewDelisting: (ip: string) => `View delisting of ${ip}`,
  informational: 'Doesn’t list single addresses.',
  startDelisting: (ip: string) => `Start delisting ${ip}`,
  page: 'Removal page',
  pageAbout: (name: string) => `of ${name}`,
} as const

export const history = {
  title: 'Change log',
  kind: 'Kind of change',
  kinds: [
    { value: 'all', name: 'All changes' },
    { value: 'blacklist', name: 'Blocklists' },
    { value: 'certificate', name: 'Certificates' },
    { value: 'dns', name: 'DNS records' },
  ] satisfies { value: MonitoredKind | 'all'; name: string }[],
  loading: 'Loading changes…',
  empty: 'No changes yet.',
  emptyDay: 'No changes on this day.',
  emptyKind: 'No changes of this kind.',
  showAll: 'Show all changes',
  allDays: (day: string) => `${day}: show all days`,
  openDay: (day: string) => `Show the changes of ${day}`,
  columns: ['Item', 'Change', 'Time'],
  firstCheck: 'at the first check',
} as const

export const details = {
  certificates: {
    caption: 'Certificates',
    columns: ['Port', 'Status', 'Valid until', 'Issuer'],
    port: (port: number) => `Port ${port}`,
    daysLeft: (days: number) => (days < 0 ? 'expired' : `${counted(days, 'day')} left`),
    noIssuer: 'no name',
    names: (names: string[]) => `for ${names.slice(0, 3).join(', ') || 'no name'}`,
  },
  records: {
    caption: 'DNS records',
    columns: ['Record', 'Values', 'Since'],
    absent: (records: { name: string; type: string }[]) =>
      `Monitored, not published: ${records.map(({ name, type }) => `${type} of ${name}`).join(', ')}.`,
  },
  addresses: {
    allAnswered: 'Every blocklist responded.',
    unanswered: (count: number) => `${countedLists(count)} gave no usable answer`,
    lastCheck: 'Last check',
    all: 'All about this address',
  },
} as const

export const settings = {
  title: (name: string) => `Settings for ${name}`,
  unnamed: 'host',
  loading: 'Loading settings…',
  save: 'Save settings',
  label: 'Label',
  ports: 'Ports with monitored certificates',
  portsHint:
    'Up to 8, separated by spaces. Ports 25, 587, 143, 110, 389 and 5432 use STARTTLS. Leave empty for none.',
  wrongPorts: 'Enter numbers from 1 to 65535, separated by spaces.',
  tooManyPorts: (count: number) => `Enter up to ${count} ports.`,
  records: 'Monitor DNS records',
  recordsHint: (name: string) => `A, AAAA, CNAME, MX, NS, TXT and DMARC of ${name}.`,
  modes: 'Blocklist settings for this host',
  modesHint: (name: string) =>
    `These apply to ${name} only. All other blocklists use your account’s settings.`,
  inherited: (mode: ListMode) => `Account setting (${MODE_NAMES[mode].toLowerCase()})`,
} as const

export const modes = {
  title: 'Blocklists',
  lead: 'Choose how a listing affects your hosts. By default you get alerts for blocklists that mail servers use to reject mail; others are only logged.',
  loading: 'Loading blocklists…',
  filter: 'Filter by name or category',
  count: countedLists,
  columns: ['Blocklist', 'Category', 'Listings'],
  listingOn: (name: string) => `Listings on ${name}`,
  defaultMode: (mode: ListMode | null) =>
    mode === null ? 'Default' : `Default (${MODE_NAMES[mode].toLowerCase()})`,
} as const

export const MODE_NAMES: Record<ListMode, string> = {
  alert: 'Alert',
  watch: 'Log only',
  mute: 'Ignore',
}

const HOST_STATES: Record<Host['status'], State> = {
  pending: { tone: 'info', word: 'Checking' },
  clean: { tone: 'good', word: 'Clean' },
  listed: { tone: 'bad', word: 'Listed' },
  unknown: { tone: 'unknown', word: 'Unknown' },
}

export function hostState({ status }: Pick<Host, 'status'>): State {
  return HOST_STATES[status]
}

type StatusCounts = Pick<HostCounts, Host['status']>

/** The number of all hosts. */
export function countAll({ pending, clean, listed, unknown }: StatusCounts): number {
  return pending + clean + listed + unknown
}

/** All hosts in one or two sentences. */
export function summarizeHosts(counts: StatusCounts): { tone: Tone; sentence: string } {
  const { listed, unknown, pending } = counts
  const all = countAll(counts)
  const unchecked = unknown > 0 ? ` ${numberText(unknown)} couldn’t be checked.` : ''
  if (listed > 0)
    return { tone: 'bad', sentence: `${countListed(listed, all)} listed.${unchecked}` }
  if (unknown > 0) return { tone: 'unknown', sentence: `No known listings.${unchecked}` }
  if (pending === all) return { tone: 'info', sentence: 'The first check is running…' }
  return {
    tone: 'good',
    sentence: all === 1 ? 'Your host is not listed.' : 'None of your hosts is listed.',
  }
}

function countListed(listed: number, all: number): string {
  if (all === 1) return 'Your host is'
  return `${numberText(listed)} of ${numberText(all)} hosts ${listed === 1 ? 'is' : 'are'}`
}

/** Counts of results; empty before the first check. */
export function describeAnswers({ listedCount, unknownCount, totalChecked }: Host): string {
  if (totalChecked === 0) return ''
  const answered = counted(totalChecked - unknownCount, 'list')
  const parts = [
    listedCount > 0 ? `on ${numberText(listedCount)} of ${answered}` : `not listed on ${answered}`,
    unknownCount > 0 && `${numberText(unknownCount)} didn’t answer`,
  ]
  return parts.filter(Boolean).join(', ')
}

/** One host in one or two sentences. */
export function summarizeHost({
  host: name,
  status,
  detail,
  listings: known,
  listedCount,
  unknownCount,
  totalChecked,
  lastCheckAt,
}: HostDetail): string {
  if (lastCheckAt === null) return `The first check of ${name} is running…`
  const suspected = known.filter(({ state }) => state === 'suspected').length
  const unconfirmed =
    suspected > 0 ? ` ${countedLists(suspected)} more: confirming in a few minutes.` : ''
  if (status === 'listed') return `${name} is listed on ${countedLists(listedCount)}.${unconfirmed}`
  if (status === 'unknown') return `${name} couldn’t be fully checked. ${detail ?? ''}`.trim()
  if (suspected === 0 && unknownCount > 0)
    return `${name} is not listed on ${numberText(totalChecked - unknownCount)} lists. ${numberText(unknownCount)} couldn’t be asked.`
  if (suspected === 0) return `${name} is not listed.`
  return `${name} may be listed on ${countedLists(suspected)}: confirming in a few minutes.`
}

export const LISTING_STATES: Record<Listing['state'], State> = {
  listed: { tone: 'bad', word: 'Listed' },
  suspected: { tone: 'warn', word: 'Unconfirmed' },
  clearing: { tone: 'info', word: 'Confirming removal' },
}

const CERTIFICATES: Record<string, State> = {
  valid: { tone: 'good', word: 'Valid' },
  expiring: { tone: 'warn', word: 'Expiring' },
  'expiring-soon': { tone: 'bad', word: 'Expires soon' },
  expired: { tone: 'bad', word: 'Expired' },
  'not-yet-valid': { tone: 'bad', word: 'Not valid yet' },
  'wrong-host': { tone: 'bad', word: 'For another host' },
  untrusted: { tone: 'bad', word: 'Not trusted' },
}

export function certificateState(state: string): State {
  return CERTIFICATES[state] ?? { tone: 'unknown', word: state }
}

/** The problems of a host’s certificates, a sentence each. */
export function certificateProblems({ certificates }: Pick<HostDetail, 'certificates'>): string[] {
  return certificates.flatMap(({ port, state }) => {
    const { tone, word } = certificateState(state)
    return tone === 'good' ? [] : [`Certificate on port ${port}: ${word.toLowerCase()}.`]
  })
}

/** Percentage, rounded down: one listed minute in 30 days is not 100%. */
export function availabilityText({ percent }: Host['availability']): string | null {
  if (percent === null) return null
  return `${percent === 0 || percent === 100 ? percent : (Math.floor(percent * 100) / 100).toFixed(2)}%`
}

const DAY_SECONDS = 86_400

/** `30 days` from two days on, else hours and minutes. */
export function spanText(seconds: number): string {
  return seconds < 2 * DAY_SECONDS
    ? durationText(seconds)
    : counted(Math.round(seconds / DAY_SECONDS), 'day')
}

export const timeline = {
  title: 'Listings, last 90 days',
  loading: 'Loading the timeline…',
  importantLists: 'Critical and major lists',
  certificates: 'Certificates',
  records: 'DNS records',
  absent: 'none',
  states: { clean: 'Not listed', listed: 'Listed', unknown: 'Unknown' },
  legend: [
    { name: 'Listed', look: 'bad' as const },
    { name: 'Not listed', look: 'good' as const },
    { name: 'Unknown', look: 'unknown' as const },
    { name: 'Not monitored', look: 'none' as const },
  ],
  span: (state: string, duration: string) => `${state} for ${duration}`,
  period: (from: string, to: string) => `${from} to ${to}`,
  openHost: (name: string) => `Show ${name}`,
  hostText: (lists: number) =>
    lists === 0 ? 'No known listings.' : `Listings on ${countedLists(lists)}.`,
  workspaceText: (listed: number, all: number, more: number) =>
    [
      listed === 0
        ? 'No known listings.'
        : `Listings on ${numberText(listed)} of ${counted(all, 'host')}.`,
      more > 0 && `${counted(more, 'more host')} not shown.`,
    ]
      .filter(Boolean)
      .join(' '),
  columns: ['Row', 'Status', 'Time'],
}

/** Texts of the strip of days. */
export const days = {
  listedDay: (name: string) => `${name}: listed`,
  label: 'Listings by day',
  listed: (name: string, seconds: number) => `${name}: listed for ${spanText(seconds)}`,
  clean: (name: string) => `${name}: not listed`,
  unknown: (name: string) => `${name}: unknown`,
  none: (name: string) => `${name}: not monitored`,
  summary: (counts: { all: number; listed: number; clean: number; unknown: number }) => {
    const parts = [
      counts.listed > 0 && `listed on ${counts.listed}`,
      counts.clean > 0 && `not listed on ${counts.clean}`,
      counts.unknown > 0 && `unknown on ${counts.unknown}`,
    ]
    return `${counted(counts.all, 'day')}: ${parts.filter(Boolean).join(', ')}`
  },
} as const

const STATE_NAMES: Record<string, string> = {
  clean: 'not listed',
  listed: 'listed',
  unknown: 'unknown',
  '': 'none',
}

/** `not listed → listed`, or the values of a record before and after. */
export function describeChange({ from, to, kind, baseline }: HostChange): string {
  const nameOf = (state: string) =>
    kind === 'certificate' && state in CERTIFICATES
      ? certificateState(state).word.toLowerCase()
      : (STATE_NAMES[state] ?? state)
  return baseline ? nameOf(to) : `${nameOf(from)} → ${nameOf(to)}`
}
