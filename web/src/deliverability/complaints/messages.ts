import { counted, numberText } from '../../ui/text/format.ts'
import type { ComplaintProvider, ComplaintSummary } from './api.ts'

const percentage = (rate: number) => `${(rate * 100).toFixed(2)}%`

export const complaints = {
  title: 'Complaints',
  lead: 'Microsoft and Yahoo report who marks your mail as spam. Their reports go to an address of yours here, which stores what the header says: no mail, and no recipient.',
  loading: 'Loading complaints…',
  create: 'Create address for complaints',
  address: 'Address for complaints',
  enroll: 'Enter this address in the feedback loops of the providers:',
  loops: [
    {
      name: 'Microsoft JMRP, for your IP addresses',
      url: 'https://sendersupport.olc.protection.outlook.com/snds/JMRP.aspx',
    },
    {
      name: 'Yahoo CFL, for domains that you sign with DKIM',
      url: 'https://senders.yahooinc.com/complaint-feedback-loop/',
    },
  ],
  noAddress: 'This service receives no mail. Let complaints go to a report mailbox instead:',
  mailboxes: (mailboxes: string[]) => `Complaints in ${mailboxes.join(', ')} are counted too.`,
  noMailbox: 'Add a report mailbox to receive complaints.',
  other: (count: number) =>
    `${counted(count, 'mail')} to it ${count === 1 ? 'was' : 'were'} no complaint. The latest:`,
  otherFrom: (from: string | null, subject: string | null) =>
    `“${subject ?? 'No subject'}” from ${from ?? 'an unknown sender'}.`,
  remove: 'Delete address',
  removing: 'Delete the address for complaints?',
  removingText: 'Mail to it is rejected from then on. Complaints are kept for 400 days.',
  none: 'No data',
  noneText:
    'Providers report complaints once they have your address; Gmail never does. So this is not zero, but unknown.',
  chart: (days: number) => `Complaints in the last ${days} days`,
  chartText: (count: number, since: string) =>
    `${counted(count, 'complaint')}. Nothing is known of the days before ${since}.`,
  chartTextAll: (count: number) => `${counted(count, 'complaint')}.`,
  series: 'Complaints',
  dayColumns: ['Day', 'Complaints'],
  providers: 'Providers',
  providerColumns: ['Provider', 'Complaints', 'Spam rate', 'Reports since'],
  rate: ({ rate, messages }: Pick<ComplaintProvider, 'rate' | 'messages'>) =>
    rate === null ? 'Unknown' : `${percentage(rate)} of ${counted(messages ?? 0, 'message')}`,
  rateHint:
    'The rate compares complaints with the messages in the provider’s own DMARC reports. Keep it below 0.1%.',
  unverified: (count: number) => `${numberText(count)} more not authenticated`,
  notAuthenticated: 'Not authenticated',
  sources: 'Sources',
  sourceColumns: ['Source', 'Complaints', 'Latest'],
  domains: 'Domains',
  domainColumns: ['Domain', 'Complaints', 'Latest'],
  campaigns: 'Campaigns',
  campaignColumns: ['Campaign', 'Complaints', 'Latest'],
  recipients: (count: number) => `from ${counted(count, 'recipient')}`,
  unknown: 'Unknown',
} as const

const CAMPAIGN_KINDS: Record<NonNullable<ComplaintSummary['campaigns'][number]['kind']>, string> = {
  list: 'List-Id',
  'feedback-id': 'Feedback-ID',
  campaign: 'X-Campaign',
  subject: 'Mails with the same subject',
}

export function campaignName({
  kind,
}: Pick<ComplaintSummary['campaigns'][number], 'kind'>): string {
  return kind === null ? complaints.unknown : CAMPAIGN_KINDS[kind]
}
