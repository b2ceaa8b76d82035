import { utcDayText } from '../ui/text/dates.ts'
import { counted, numberText } from '../ui/text/format.ts'
import type { Report, Sender, Source, SourceGroup, Summary } from './api.ts'

/** Texts that several DMARC screens share. */
export const shared = {
  title: 'DMARC',
  source: 'Source',
  sources: 'Sources',
  messages: 'Messages',
  message: 'message',
  reports: 'Reports',
  report: 'report',
  record: 'record',
  reporter: 'Reporter',
  unnamedReporter: 'Unnamed reporter',
  period: 'Period (UTC)',
  exactPeriod: (begin: string, end: string) => `${begin} to ${end}, UTC`,
  received: 'Received',
  result: 'Result',
  actions: 'Actions',
  passed: 'Passed',
  failed: 'Failed',
  passedCount: (count: number) => `${numberText(count)} passed`,
  failedCount: (count: number) => `${numberText(count)} failed`,
  passedShare: (share: string) => `${share} passed`,
  /** Completes “Copy …” for screen readers. */
  copyRecord: 'the record',
  loadingReports: 'Loading reports…',
  noMatches: 'No matches',
  reporterFilter: 'Filter by reporter',
  allResults: 'All results',
  verified: 'Verified',
  notVerified: 'Not verified yet',
  showMore: 'Show more',
  days: 'Period',
  lastDays: (days: number) => `Last ${days} days`,
  allDays: 'All reports',
  ownDays: 'From – to',
  firstDay: 'First day (UTC)',
  lastDay: 'Last day (UTC)',
  percentage: (percent: string) => `${percent}%`,
} as const

export const overview = {
  lead: 'See who sends email as your domain, what passes, and when it’s safe to enforce a policy.',
  loading: 'Loading your domains…',
  rejected: 'Rejected reports',
  mailboxes: 'Mailboxes',
  yours: 'Your domains',
  domain: 'Domain',
  policy: 'Policy',
  unknownPolicy: 'not reported',
  passed: 'Passed (30 days)',
  of: (messages: number) => `of ${counted(messages, 'message')}`,
  noMessages: 'no messages',
  lastReport: 'Last day reported',
  received: 'received',
  noReport: 'none yet',
  tlsReport: 'TLS report',
  failureReport: 'failure report',
  rejectedToday: (count: number) => `${counted(count, 'item')} rejected today`,
  filter: 'Filter by domain',
  verifyNow: 'Verify now',
  verifyFailed: (failed: number, all: number) =>
    `${numberText(failed)} of ${counted(all, 'domain')} couldn’t be verified:`,
  delete: 'Delete',
  deleting: (domains: string[]) =>
    domains.length === 1
      ? `Deleting ${domains[0]}, its reports and statistics…`
      : `Deleting ${counted(domains.length, 'domain')} with their reports and statistics…`,
  add: 'Add a domain',
  addDomain: 'Add domain',
  domainExample: 'example.com',
  missingDomain: 'Enter the domain that your email is from.',
  empty: 'No domains yet',
  emptyHint: 'Add yours above to get the record to publish. Or use the API:',
  command: 'the command',
} as const

export const importing = {
  label: 'Add several',
  title: 'Add several domains',
  hint: 'Web and email addresses count as their domain.',
  submit: (count: number) => (count === 0 ? 'Add domains' : `Add ${counted(count, 'domain')}`),
} as const

export const upload = {
  title: 'Upload reports',
  choose: 'Choose report files',
  remaining: (files: number) => `${counted(files, 'file')} remaining…`,
  hint: 'Or drop them here: XML, JSON, gzip, zip, complete emails and mbox files.',
  summary: (stored: number, duplicates: number, failureReports: number, rejected: number) =>
    `${[
      `${counted(stored, 'report')} stored`,
      duplicates > 0 && `${counted(duplicates, 'duplicate')} skipped`,
      failureReports > 0 && `${counted(failureReports, 'failure report')} counted but not stored`,
      rejected > 0 && `${numberText(rejected)} rejected`,
    ]
      .filter(Boolean)
      .join(', ')}.`,
  reason: (file: string, reason: string) => `${file}: ${reason}`,
  allRejected: 'All rejected reports',
  storedFor: (reports: number, first: string, last: string) =>
    `: ${counted(reports, 'report')}, ${first === last ? first : `${first} – ${last}`}`,
} as const

export const missingDomains = {
  text: (reports: number) =>
    `${counted(reports, 'report')} ${reports === 1 ? 'is for a domain' : 'are for domains'} that you haven’t added:`,
  domain: (domain: string, reports: number) => `${domain} (${numberText(reports)})`,
  add: 'Add and read them',
  done: (domains: number, reports: number) =>
    `${counted(domains, 'domain')} added, ${counted(reports, 'report')} read.`,
} as const

export const domainPage = {
  unnamed: 'Domain',
  title: (part: string, domain: string) => `${part} for ${domain}`,
  notFound: 'This domain isn’t in your workspace.',
  reports: 'Reports',
  tlsReports: 'TLS reports',
  record: 'DNS record',
} as const

/** The verdict on the next policy; the API’s sentence gives the numbers. */
export function readinessTitle({
  verdict,
  policy,
  undecided,
}: Pick<Summary['readiness'], 'verdict' | 'policy' | 'undecided'>): string {
  const titles: Record<Summary['readiness']['verdict'], string> = {
    'no-data': 'No messages reported yet',
    'too-early': `Not enough mail for p=${policy} yet`,
    'not-ready':
      undecided.length === 0
        ? `Not ready for p=${policy}`
        : `${undecided.length === 1 ? 'One sender' : `${undecided.length} senders`} left to sort out`,
    ready: `Ready for p=${policy}`,
    enforced: 'Enforced: p=reject',
  }
  return titles[verdict]
}

export const summary = {
  periodBefore: (from: string, to: string) => `the period before (${from} to ${to})`,
  loading: 'Loading the summary…',
  firstReport: 'Getting reports',
  checkingDns: 'Checking DNS…',
  dkimAligned: 'DKIM aligned',
  spfAligned: 'SPF aligned',
  forwarded: 'Forwarded',
  quarantinedOrRejected: 'Quarantined or rejected',
  policy: 'Policy',
  reporters: 'Reporters',
  lastDay: 'Last day (UTC)',
  selectors: 'DKIM keys in use',
  selector: 'Selector',
  validSignatures: (share: string) => `${share} of signatures valid`,
  noMessages: 'No messages in this period',
  noneLately: 'No messages in the last 30 days',
  newest: (day: string) => `Your newest report covers ${day}.`,
  showNewest: 'Show that period',
  daily: 'Messages per day',
  monthly: 'Messages per month',
  monthlyChart: 'Messages per month, passed and failed',
  month: 'Month (UTC)',
  chart: 'Messages per day, passed and failed',
  openDay: (day: string) => `Show the reports of ${day}`,
  day: 'Day (UTC)',
} as const

export const senderRates = {
  title: 'Pass rate by sender',
  loading: 'Loading the senders…',
  view: 'Chart',
  views: [
    { value: 'rate', name: 'Pass rate' },
    { value: 'volume', name: 'Volume' },
  ] satisfies { value: 'rate' | 'volume'; name: string }[],
  rateHint: 'Line: messages that passed. Bars: messages sent. Days without messages are gaps.',
  volumeHint: 'Messages per day, passed and failed.',
  others: 'All other senders',
  rate: 'Pass rate',
  none: 'No messages',
  rateOf: (name: string) => `Pass rate of ${name} per day`,
  volumeOf: (name: string) => `Messages of ${name} per day`,
  summary: (share: string, count: string) => `${share} of ${count} passed`,
  volumeText: (pass: string, fail: string) => `${pass} passed, ${fail} failed.`,
  columns: ['Sender', 'Day (UTC)', 'Messages', 'Pass rate'],
  openDay: (day: string) => `Show the reports of ${day}`,
}

/** The daily chart in a sentence. */
export function describeDays({
  days,
  totals,
}: {
  days: { day: string; fail: number }[]
  totals: Pick<Source, 'messages' | 'fail'>
}): string {
  const { messages, fail } = totals
  if (messages === 0) return 'No messages.'
  if (fail === 0)
    return messages === 1
      ? 'The only message passed.'
      : `All ${numberText(messages)} messages passed.`
  const worst = days.reduce((before, day) => (day.fail > before.fail ? day : before))
  return `${numberText(fail)} of ${counted(messages, 'message')} failed, most on ${utcDayText(worst.day)} (${numberText(worst.fail)}).`
}

/** Groups of sources, those that need attention first. */
export const sourceGroups: Record<SourceGroup, { title: string; explanation: string }> = {
  failing: {
    title: 'Failing',
    explanation: 'Either a sender of yours that isn’t set up, or spoofed email.',
  },
  'partly-aligned': {
    title: 'Partially passing',
    explanation: 'Usually a sender of yours that isn’t set up for everything it sends.',
  },
  'forwarder-like': {
    title: 'Forwarded',
    explanation:
      'Mailing lists and forwarding addresses, according to the receivers. No action needed.',
  },
  aligned: { title: 'Passing', explanation: 'Your senders, set up correctly.' },
}

export const senders = {
  title: 'Senders',
  explanation:
    'Who sends as this domain. Mark unknown senders, so that we can tell whether a stricter policy is safe.',
  sender: 'sender',
  filter: 'Filter by sender',
  columns: ['Sender', 'Messages', 'Passed', 'Whose is it?'] as const,
  kinds: {
    service: 'Mail service',
    own: 'Hosts below this domain',
    organization: 'Other hosts',
    address: 'Address without a reverse name',
  } satisfies Record<Sender['kind'], string>,
  markOf: (name: string) => `Whose is ${name}?`,
  unmarked: 'Unknown',
  assumed: 'Mine (passes)',
  answers: [
    { value: 'mine', name: 'Mine' },
    { value: 'not-mine', name: 'Not mine' },
  ] satisfies { value: NonNullable<Sender['mark']>; name: string }[],
  marks: [
    { value: 'mine', name: 'Mine', action: 'Mark as mine' },
    { value: 'not-mine', name: 'Not mine', action: 'Mark as not mine' },
    { value: 'forwarder', name: 'Forwarder', action: 'Mark as forwarder' },
  ] satisfies { value: NonNullable<Sender['mark']>; name: string; action: string }[],
}

export const sources = {
  source: 'source',
  filter: 'Filter by source',
  address: 'IP address',
  network: 'Network',
  dkimAligned: 'DKIM aligned',
  spfAligned: 'SPF aligned',
  authentication: 'Authentication',
  seen: 'Seen (UTC)',
  stopped: (count: number) => `${numberText(count)} quarantined or rejected`,
  dkim: (share: string) => `DKIM ${share}`,
  spf: (share: string) => `SPF ${share}`,
  days: (first: string, last: string) => `${first} – ${last}`,
  truncated: (shown: number, total: number) =>
    `Showing the ${numberText(shown)} most relevant of ${numberText(total)} sources.`,
} as const

export const source = {
  showAllDays: 'Show all reports',
  of: (domain: string) => `Sources for ${domain}`,
  unknownDomain: 'the domain',
  loading: 'Loading the source…',
  details: 'Details',
  address: 'IP address',
  reverseName: 'Reverse DNS',
  noReverseName: 'none',
  unconfirmedName: (name: string) =>
    `${name} (unconfirmed: the name doesn’t resolve to this address)`,
  unconfirmedShort: (name: string) => `unconfirmed: ${name}`,
  organisation: 'Organization',
  network: 'Network',
  group: 'Group',
  check: 'More about it',
  allAbout: 'Blocklists, attack reports, bans',
  related: (organisation: string) => `Other sources from ${organisation}`,
  moreSources: 'more source',
} as const

export const advice = {
  title: 'Recommended actions',
  ifYours: 'If it’s yours or a service you use',
  ifUnknown: 'If you don’t recognize it',
  recordPart: (name: string, value: string) =>
    value.startsWith('v=') ? `the record of ${name}` : `the addition to the record of ${name}`,
  oneIsEnough: 'One of the two is enough to pass. DKIM also survives forwarding. ',
  checkRecords: (domain: string) => `Check the records of ${domain}`,
} as const

export const identities = {
  dkim: 'DKIM signatures',
  unsigned: (count: number) => `${counted(count, 'message')} not signed`,
  noSignature: 'None: the messages aren’t signed.',
  domain: 'Domain',
  signature: 'Signature',
  alignment: 'Alignment',
  unknownSelector: 'selector not reported',
  selector: (selector: string) => `selector ${selector}`,
  unknown: 'not reported',
  spf: 'SPF (envelope-from domain)',
  spfResult: 'SPF',
  noEnvelope: 'Not reported.',
  noDomain: 'none',
  headerFrom: (domains: string) => `From header: ${domains}.`,
  headerFromCount: (domain: string, count: number) => `${domain} (${counted(count, 'message')})`,
  basis: (records: number, total: number) =>
    `Based on the newest ${numberText(records)} of ${counted(total, 'record')}.`,
  result: (method: 'DKIM' | 'SPF', result: string) => `${method} ${result}`,
  aligned: 'Aligned',
  notAligned: 'Not aligned',
  otherDomain: 'Another domain',
} as const

export const records = {
  title: 'Records',
  loading: 'Loading records…',
  empty: 'The report has no records.',
  from: 'From header',
  authentication: 'Authentication',
  disposition: 'Action taken',
  missing: 'missing',
  envelopeFrom: (domain: string) => `envelope from ${domain}`,
  outside: 'Another domain',
  aligned: 'aligned',
  notAligned: 'not aligned',
  method: (method: 'DKIM' | 'SPF', alignment: string) => `${method} ${alignment}`,
  signature: (domain: string | null, selector: string | null, result: string | null) =>
    `, ${domain} (${selector ?? '?'}): ${result}`,
  spf: (domain: string | null, result: string | null) => `, ${domain}: ${result}`,
  dispositions: {
    none: 'Delivered',
    pass: 'Delivered',
    quarantine: 'Quarantined',
    reject: 'Rejected',
  } as Record<string, string>,
} as const

export const reports = {
  reportId: 'Report ID',
  end: 'End',
  withFailures: 'With failures',
  allPassed: 'All passed',
  allDays: (day: string) => `${day}: show all days`,
  otherDomains: (count: number) => `${numberText(count)} of other domains`,
} as const

export const report = {
  title: (reporter: string) => `Report from ${reporter}`,
  untitled: 'Report',
  unnamed: 'an unnamed reporter',
  loading: 'Loading the report…',
  reporterError: (error: string) => `Reporter’s message: ${error}`,
  details: 'Details',
  policy: 'Published policy',
  authenticity: 'Authenticity',
  id: 'Report ID',
  generator: 'Generator',
  authentic: (sender: string) => `Verified: the email is from ${sender}.`,
  notAuthentic: (sender: string) =>
    `Not verified: the email claims to be from ${sender}. Anyone can forge a report.`,
  unknownSender: 'an unknown sender',
} as const

/** A report in a sentence: verdict and number. */
export function describeReport({ orgName, totals }: Pick<Report, 'orgName' | 'totals'>): string {
  const { messages, fail, outside } = totals
  const reporter = orgName || shared.unnamedReporter
  if (messages === 0) return `${reporter} saw no messages from the domain.`
  const other =
    outside === 0
      ? ''
      : ` ${counted(outside, 'message')} from other domains ${outside === 1 ? 'isn’t' : 'aren’t'} in the summary.`
  const saw = `${reporter} saw ${counted(messages, 'message')}`
  return fail === 0 ? `${saw}, all passed.${other}` : `${saw}, ${numberText(fail)} failed.${other}`
}

/** How a report arrived. */
export const channels: Record<NonNullable<Report['via']>, string> = {
  smtp: 'by email',
  upload: 'uploaded',
  mailbox: 'from a mailbox',
  import: 'imported',
}

export const tlsReports = {
  loading: 'Loading TLS reports…',
  explanation:
    'TLS reports show whether senders could reach your mail servers with TLS. None received yet.',
  publish: 'To receive them, publish this TXT record at',
  connections: 'Connections',
  failures: 'Failures',
  policy: (type: string, domain: string) => `${type} for ${domain}`,
  allSucceeded: 'All used TLS',
  succeeded: (count: number) => `${numberText(count)} succeeded`,
  noFailures: 'None',
  failure: (type: string, connections: number) => `${type}: ${counted(connections, 'connection')}`,
  fromAddress: (address: string) => `from ${address}`,
} as const

export const record = {
  title: 'DMARC record',
  checkingDns: 'Checking DNS…',
  configured: (address: string) => `Your DMARC record sends reports to ${address}.`,
  noAnswer: 'The domain’s name servers didn’t respond.',
  notConfigured: (address: string) => `Your DMARC record doesn’t send reports to ${address} yet.`,
  publishAt: 'Publish this TXT record at',
  changeAt: 'Change the TXT record at',
  to: 'to:',
  current: 'This is your current record with the address added. Current record:',
  noReportAddress: 'This Portreeve can’t receive reports by email yet.',
  setReportDomain: 'The operator must set',
  setReportDomainReason: 'to a domain that receives email. Until then, use files and mailboxes.',
  missingConsent: 'One more record is missing. Without it, receivers won’t send reports here.',
  publishConsent: 'Publish this once, for all domains:',
  operatorPublishes: 'The operator of this service publishes it once, for all domains:',
  copyConsent: 'the confirmation record',
  ownership: 'Ownership',
  proofs: {
    rua: 'The DMARC record sends reports to the address that only your workspace has.',
    txt: 'The TXT record that only your workspace has was found.',
  },
  unproven:
    'Your domain is verified once the DMARC record is published. Reports are accepted in the meantime. We check DNS daily.',
  verify: 'Verify now',
  verifyAgain: 'Check again',
  otherProof: 'Verify without changing the DMARC record',
  otherProofAt: 'Publish a TXT record at',
  copyProof: 'the verification record',
  deleteTitle: 'Delete domain',
  delete: 'Delete',
  deleting: (domain: string) => `Deleting ${domain}, its reports and statistics…`,
  deleteEffect:
    'This deletes its reports and statistics. Its report address will stop receiving email.',
} as const

export const rejected = {
  title: 'Rejected reports',
  lead: 'Reports we couldn’t accept, and why. Usually the domain isn’t in your workspace or the file is damaged.',
  loading: 'Loading rejected reports…',
  empty: 'No rejected reports',
  name: 'File',
  reason: 'Reason',
  original: 'Original',
  download: 'Download',
  notKept: 'not stored',
} as const

export const mailboxes = {
  title: 'Mailboxes',
  lead: 'We check each mailbox for reports every 10 minutes. A message is moved or marked as seen only after its reports are stored.',
  loading: 'Loading mailboxes…',
  yours: 'Your mailboxes',
  mailbox: 'Mailbox',
  status: 'Status',
  lastChecked: 'Last checked',
  location: (folder: string, host: string, moveTo: string | null) =>
    `${folder} on ${host}${moveTo ? `, then moved to ${moveTo}` : ''}`,
  working: 'OK',
  pending: 'Not checked yet',
  needsSignIn: 'Needs a new sign-in',
  failing: 'Failing',
  never: 'not yet',
  check: 'Check now',
  remove: 'Remove',
  removing: (user: string) => `Removing ${user} and its password. Stored reports are kept.`,
  add: 'Add a mailbox',
  submit: 'Add mailbox',
  userExample: 'dmarc@example.com',
  folder: 'Folder',
  folderHint: 'Where the reports arrive.',
  moveTo: 'Move processed messages to',
  moveToHint: 'Leave empty to mark them as seen and keep them in place.',
  moveToExample: 'Done',
} as const
