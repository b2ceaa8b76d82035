import { counted, durationText, numberText } from '../../ui/text/format.ts'

export const fleet = {
  title: 'Bans',
  lead: 'Addresses that your servers reported. All your servers block them within seconds. Only members of this workspace see them.',
  loading: 'Loading the fleet list…',
} as const

export const bans = {
  title: 'Banned addresses',
  empty: 'No banned addresses',
  emptyText: 'An address appears here when one of your servers reports it.',
  /** Of all pages, or of those on this page that match the filter. */
  count: (rows: number, onPage: number, total: number) =>
    rows === onPage
      ? counted(total, 'address', 'addresses')
      : `${numberText(rows)} of ${numberText(onPage)} on this page`,
  filter: 'Filter by address',
  columns: { address: 'Address', cause: 'Cause', ends: 'Ends', bans: 'Bans', action: 'Action' },
  byMember: (reason: string) => (reason ? `Banned by a member: ${reason}` : 'Banned by a member'),
  reported: (services: string, servers: string) =>
    servers ? `${services}, reported by ${servers}` : services,
  unnamed: 'an unnamed server',
  unban: 'Unban',
  unbanTitle: (address: string) => `Unban ${address}?`,
  unbanSeveral: (count: number) => `Unban ${counted(count, 'address', 'addresses')}?`,
  unbanText: 'All servers let it in again at once. It is banned again if it attacks again.',
} as const

export const newBan = {
  title: 'Ban an address',
  ip: 'IPv4 or IPv6 address',
  seconds: 'Duration',
  durations: [
    { value: '3600', label: '1 hour' },
    { value: '86400', label: '1 day' },
    { value: '604800', label: '7 days' },
    { value: '2592000', label: '30 days' },
  ],
  reason: 'Reason',
  submit: 'Ban address',
} as const

export const allowlist = {
  title: 'Never banned',
  text: 'Your own networks. Addresses in them are unbanned at once, and never banned again.',
  loading: 'Loading the allowlist…',
  cidr: 'Address or network',
  label: 'Description',
  submit: 'Add network',
  remove: 'Remove',
  removeTitle: (network: string) => `Remove ${network}?`,
  removeText: 'Reports of your servers can ban addresses in it again.',
  automatic: 'Always included',
  members: 'Members signed in',
  servers: 'Your servers',
  service: 'This service',
} as const

const TIMES: Record<number, string> = { 2: 'two', 3: 'three', 4: 'four', 5: 'five' }
const timesText = (times: number) => `${TIMES[times] ?? numberText(times)} times`

const DAY_SECONDS = 86_400

/** `7 days` where whole days are more than two, else hours. */
const longDurationText = (seconds: number) =>
  seconds % DAY_SECONDS === 0 && seconds > 2 * DAY_SECONDS
    ? counted(seconds / DAY_SECONDS, 'day')
    : durationText(seconds)

export const rules = {
  title: 'Rules',
  loading: 'Loading the rules…',
  text: ({ services, minCount, windowSeconds, banSeconds, growth, maxBanSeconds }: RuleText) =>
    [
      `${services.length === 0 ? 'All services' : services.join(', ')}.`,
      minCount === 1
        ? `First report: ${durationText(banSeconds)}.`
        : `${counted(minCount, 'report')} in ${durationText(windowSeconds)}: ${durationText(banSeconds)}.`,
      growth === 1
        ? 'Each time the same.'
        : `Each time again: ${timesText(growth)} longer, at most ${longDurationText(maxBanSeconds)}.`,
    ].join(' '),
  none: 'No rule: reports ban no address.',
  order: 'The first rule that names the service of a report applies.',
  add: 'Add a rule',
  addSubmit: 'Add rule',
  moveUp: 'Move up',
  remove: 'Remove rule',
  services: 'Services',
  servicesHint: 'Names such as ssh, imap. Leave empty for all services.',
  minCount: 'Events that ban',
  window: 'Within minutes',
  first: 'First ban, in hours',
  growth: 'Factor per repetition',
  longest: 'Longest ban, in hours',
  submit: 'Save rule',
  restore: 'Restore the default rule',
} as const

type RuleText = {
  services: string[]
  minCount: number
  windowSeconds: number
  banSeconds: number
  growth: number
  maxBanSeconds: number
}

export const servers = {
  title: 'Servers that follow or report',
  loading: 'Loading the servers…',
  empty: 'No servers yet. Create an install command under “Your servers”, with blocking.',
  columns: ['Address', 'Token or key', 'Last report', 'Last contact'],
  never: 'Never',
  revoked: 'Revoked',
} as const

export const crowdsec = {
  title: 'CrowdSec bouncers',
  text: 'A bouncer can read this list like that of a CrowdSec engine. Set these two in its configuration; create a bouncer key below.',
  what: 'the configuration',
  key: 'A BOUNCER KEY',
  shared: 'Bouncers also block the shared blocklist',
  columns: ['Bouncer', 'Address', 'Last request', 'Dropped'],
  save: 'Save',
} as const

export const badge = {
  title: 'Badge',
  text: 'An image with the number of banned addresses, for a README or a status page.',
  public: 'Everyone with the URL can see the badge',
  save: 'Save badge',
  alt: 'attackers blocked',
  what: 'the Markdown of the badge',
} as const

export const keys = {
  title: 'Bouncer keys',
  text: 'A key reads this list and cannot report. Give each server, firewall and bouncer its own.',
  loading: 'Loading the keys…',
  empty: 'No keys yet.',
  label: 'Name',
  labelExample: 'firewall-1',
  submit: 'Create key',
  created: (label: string) => `Key for ${label || 'a bouncer'}`,
  createdText: 'It is shown only once.',
  what: 'the key',
  columns: ['Name', 'Created', 'Last used', 'Action'],
  unnamed: 'Unnamed key',
  masked: (lastFour: string) => `bk_…${lastFour}`,
  never: 'Never',
  revoke: 'Revoke',
  revokeTitle: (name: string) => `Revoke the key “${name}”?`,
  revokeText: 'Servers and bouncers with this key get no further changes. Their bans expire.',
} as const

export const history = {
  title: 'Recent changes',
  loading: 'Loading the changes…',
  empty: 'No changes yet.',
  columns: ['Address', 'Change', 'Cause', 'Time'],
  kinds: { banned: 'Banned', extended: 'Extended', unbanned: 'Unbanned', expired: 'Ended' },
  report: (token: string, service: string, count: number) =>
    `${token || bans.unnamed} reported ${counted(count, 'event')} on ${service}`,
  member: (member: string, reason: string) => (reason ? `${member}: ${reason}` : member),
  allowlist: (network: string) => `${network} was added to the allowlist`,
  withdrawal: (token: string) => `${token || 'The server'} took its reports back`,
  protection: (reason: string) => `It is ${reason}`,
  time: 'Its time is over',
} as const
