import { counted, numberText } from '../../ui/text/format.ts'
import type { PostmasterDay, SndsDay, SpamRates } from './api.ts'

const NO_DATA = 'No data'

/** `0.12%`: small rates decide. */
const percentage = (rate: number) => `${Number((rate * 100).toFixed(2))}%`
const share = (rate: number | null) => (rate === null ? NO_DATA : `${(rate * 100).toFixed(1)}%`)

/** A rate of a day, or the range in which it is. */
export function rateText(day: { low: number; high: number | null } | undefined): string {
  if (!day) return NO_DATA
  const { low, high } = day
  if (high === null) return `over ${percentage(low)}`
  if (high === low) return percentage(low)
  return low === 0 ? `below ${percentage(high)}` : `${percentage(low)} to ${percentage(high)}`
}

export const statistics = {
  title: 'Provider statistics',
  lead: 'What Google and Microsoft count of your mail. A day without data is unknown, not zero.',
  loading: 'Loading provider statistics…',
  chart: 'Spam rate by provider',
  chartText: ({ providers, dmarc, listings }: SpamRates) => {
    const known = providers.map(
      ({ name, days }) =>
        `${name}: ${rateText(days.at(-1))} on the latest of ${counted(days.length, 'day')} with data`,
    )
    const failures = dmarc.reduce((sum, day) => sum + day.failures, 0)
    const listed = listings.filter((day) => day.listed > 0).length
    return [
      ...known,
      dmarc.length > 0 && counted(failures, 'DMARC failure'),
      listings.length > 0 && `Listed on ${counted(listed, 'day')}`,
    ]
      .filter(Boolean)
      .join('. ')
      .concat('.')
  },
  rate: 'Spam rate',
  failures: 'DMARC failures',
  listings: 'Hosts on blocklists',
  limits: { raised: '0.1%', high: '0.3%' },
  noData: NO_DATA,
  dayColumn: 'Day',
  failuresOf: (failures: number, messages: number) =>
    `${numberText(failures)} of ${numberText(messages)}`,
  listedOf: (listed: number, hosts: number) => `${numberText(listed)} of ${numberText(hosts)}`,
  nothing: 'No data yet',
  nothingText:
    'Connect Google or Microsoft below, or create an address for complaints. Small senders may never get data.',
  alert: {
    raised: (name: string) => `The spam rate at ${name} has reached 0.1%.`,
    high: (name: string) => `The spam rate at ${name} has reached 0.3%: mail goes to spam.`,
  },
  requirements: 'Requirements of Google',
  requirementsOf: (domain: string) => `Google evaluates ${domain}.`,
  requirementColumns: ['Requirement', 'State', 'Action'],
  states: { compliant: 'Met', 'needs-work': 'Not met', unknown: 'Unknown' },
  noAction: 'None',
  counts: 'Statistics of Google',
  countColumns: ['Day', 'Spam rate', 'Delivery errors', 'SPF', 'DKIM', 'DMARC', 'TLS'],
  errors: ({ errorRate, errorCount }: Pick<PostmasterDay, 'errorRate' | 'errorCount'>) => {
    if (errorRate === null && errorCount === null) return NO_DATA
    const count = errorCount === null ? [] : [counted(errorCount, 'message')]
    return [...(errorRate === null ? [] : [share(errorRate)]), ...count].join(', ')
  },
  reason: (reason: string, count: number) =>
    `${REASONS[reason] ?? reason.replaceAll('_', ' ')}: ${numberText(count)}`,
  loop: (id: string, rate: number) => `${id}: ${percentage(rate)}`,
  share,
  percentage: (rate: number | null) => (rate === null ? NO_DATA : percentage(rate)),
  addresses: 'Addresses at Microsoft',
  addressColumns: ['Address', 'Day', 'Rating', 'Complaints', 'Messages'],
  filters: { green: 'Green', yellow: 'Yellow', red: 'Red' },
  complaints: ({ complaintRate }: Pick<SndsDay, 'complaintRate'>) => complaintRate ?? NO_DATA,
  messagesOf: ({ dataCommands }: Pick<SndsDay, 'dataCommands'>) =>
    dataCommands === null ? NO_DATA : numberText(dataCommands),
} as const

const REASONS: Record<string, string> = {
  bad_attachment: 'Bad attachment',
  bad_or_missing_ptr_record: 'No valid reverse name',
  ip_in_rbls: 'Address on a blocklist',
  low_domain_reputation: 'Low reputation of the domain',
  low_ip_reputation: 'Low reputation of the address',
  spammy_content: 'Content like spam',
  stamp_policy_error: 'DMARC policy',
  anomalous_traffic_pattern: 'Unusual amount of mail',
  other: 'Other',
}

export const google = {
  title: 'Google Postmaster Tools',
  lead: 'Google shows spam rate, delivery errors and its requirements to people who have verified a domain in Postmaster Tools. Sign in as one of them.',
  notOffered:
    'Signing in at Google isn’t set up on this service. An administrator of it can add the client ID: /docs/guide/mail-providers.html has the steps.',
  portal: 'Open Postmaster Tools',
  portalUrl: 'https://postmaster.google.com/',
  states: { active: 'Connected', failing: 'No data at the moment', ended: 'Access ended' },
  account: (account: string) => `Signed in as ${account}.`,
  signInAgain: 'Access ended. Sign in again:',
  fetched: 'Last fetched',
  never: 'The first statistics come within five minutes.',
  noAccess: 'Google shows this account nothing of the domain.',
  remove: 'Disconnect',
  removing: 'Disconnect Google Postmaster Tools?',
  removingText: 'The sign-in is revoked at Google. Statistics are kept for 400 days.',
} as const

export const snds = {
  title: 'Microsoft SNDS',
  lead: 'Microsoft rates the addresses that send to Outlook.com. Sign in with the account to which its SNDS portal shows them.',
  portal: 'Open the SNDS portal',
  portalUrl: 'https://substrate.office.com/ip-domain-management-snds/SNDS',
  states: { active: 'Connected', failing: 'No data at the moment', ended: 'Access ended' },
  linksEnd: 'New links are needed by',
  approvalEnds: 'Approve the access in the portal again by',
  noApproval: 'Enter when Microsoft approved the access: it ends after ten months.',
  account: (account: string) => `Signed in as ${account}.`,
  unreadable: 'Part of the data couldn’t be read.',
  fetched: 'Last fetched',
  never: 'The first data come within five minutes.',
  signIn: 'Sign in with Microsoft',
  signInAgain: 'Sign in with Microsoft again',
  steps: [
    'Sign in on the page of Microsoft that has opened.',
    'It ends at an address of localhost that doesn’t load. That’s expected.',
    'Copy the whole address of that page, and paste it here within a minute.',
  ],
  blocked: 'Open the page of Microsoft',
  address: 'Address of the page that didn’t load',
  addressExample: 'http://localhost/?code=…',
  noAddress: 'Paste the address.',
  complete: 'Complete sign-in',
  replacesLinks: 'The sign-in replaces the links.',
  enter: 'Use links instead',
  enterNew: 'Enter new links',
  linksLead:
    'Links of “Automated Data Access” in the portal work for 30 days. They replace a sign-in.',
  data: 'Link to IP data',
  status: 'Link to IP status (optional)',
  approved: 'Access approved on (optional)',
  dayExample: '2026-11-28',
  missing: 'Enter the link.',
  wrongDay: 'Enter a day such as 2026-11-28.',
  submit: 'Save links',
  enterDay: 'Enter the day of the approval',
  approvedOn: 'Access approved on',
  submitDay: 'Save day',
  remove: 'Disconnect',
  removing: 'Disconnect Microsoft SNDS?',
  removingText: 'The sign-in or the links are deleted. Data are kept for 400 days.',
  blocks: 'Blocked by Microsoft',
  blockColumns: ['Addresses', 'Reason'],
  range: (first: string, last: string) => (first === last ? first : `${first} to ${last}`),
} as const
