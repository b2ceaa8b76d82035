import { counted, numberText } from '../ui/text/format.ts'

export const views = {
  label: 'Attack reporting',
  dashboard: 'Dashboard',
  servers: 'Your servers',
  bans: 'Bans',
  list: 'Shared list & feeds',
  connect: 'Connect a server',
  feeds: 'Public feeds',
} as const

export const overview = {
  title: 'Attack reporting',
  lead: 'Your servers report attackers. Addresses reported by several networks land on a shared blocklist.',
  network: 'Network statistics',
  publicPage: 'the public page of this address',
  copyPublicPage: 'Copy link to the public page',
  appeal: 'Appeal this listing',
} as const

export const lookup = {
  label: 'IPv4 or IPv6 address',
  submit: 'Look up',
  example: '192.0.2.1 or 2001:db8::1',
  missing: 'Enter an address such as 192.0.2.1 or 2001:db8::1.',
} as const

type Peers = { name: string }[]

/** “3 networks here and by the peer example.net”, after “reported by”. */
function reportersText(count: number, peers: Peers): string {
  const here = counted(count, 'network')
  if (peers.length === 0) return here
  const names = peers.map(({ name }) => name).join(', ')
  const others = `the ${peers.length === 1 ? 'peer' : 'peers'} ${names}`
  return count === 0 ? others : `${here} here and by ${others}`
}

export const address = {
  loading: 'Looking up the address…',
  score: 'Score',
  scoreText: (score: number) => `${score} of 100. An address can be listed from 60.`,
  confidence: 'Confidence',
  confidences: {
    none: 'None',
    low: 'Low: one independent source',
    medium: 'Medium: two independent sources',
    high: 'High: three independent sources, one of them established',
    'very-high': 'Very high: six independent sources, two of them established',
  },
  reportedBy: 'Reported by',
  reporters: (count: number, peers: Peers) => reportersText(count, peers),
  reports: 'Reports',
  reportsText: (count: number) =>
    `${numberText(count)}. Reports of one service within ten minutes count once, from all networks together.`,
  attacked: 'Attacked services',
  firstReported: 'First reported',
  lastReported: 'Last reported',
  countedFor: 'Applies to',
  wholeNetwork: (network: string) => `all of ${network}`,
  evidenceLines: (count: number) => `Evidence: ${counted(count, 'line')}`,
  evidence: 'Evidence',
  evidenceColumns: ['Service', 'Events', 'Time', 'Source'],
  source: 'Source',
  port: (port: number) => `port ${port}`,
  feeds: 'Public feeds with this address',
  feedSince: (label: string, network: string) => `${label}, ${network}, since`,
  feedRemoval: 'Removal',
  events: (count: number) => counted(count, 'event'),
} as const

/** The verdict on an address, after the address itself. */
export const verdicts = {
  listed: (count: number, peers: Peers) =>
    peers.length === 0
      ? `is listed: ${counted(count, 'network')} reported it independently.`
      : `is listed: reported by ${reportersText(count, peers)}.`,
  watchlist: (count: number, peers: Peers) =>
    peers.length === 0
      ? `is on the watchlist, not listed: ${counted(count, 'network')} reported it, too few for a listing.`
      : `is on the watchlist, not listed: reported by ${reportersText(count, peers)}.`,
  observed: (count: number, peers: Peers) =>
    peers.length === 0
      ? `is not listed: only ${counted(count, 'network')} reported it.`
      : `is not listed: only reported by ${reportersText(count, peers)}.`,
  delisted: () => 'is no longer listed.',
  expired: () => 'is not listed: no reports in the last 30 days.',
  whitelisted: () => 'is never listed: an administrator added it to the allowlist.',
  none: () => 'is not listed: no reports.',
} as const

export const publicPage = {
  title: (ip: string) => `Reports about ${ip}`,
  untitled: 'Address lookup',
  lead: 'Servers report attackers to this service. Look up any public address.',
  delist: 'Getting your address delisted',
  delistSteps: [
    'Check the evidence: what was attacked, and when. A listing isn’t an accusation: most listed machines were compromised.',
    'Fix the cause: a mail account with a stolen password, a router with its default password, a website with an outdated plugin. While attacks continue, the address is listed again.',
    'Appeal. An appeal sent from the listed address itself is granted at once, once every 30 days. Appeals from others don’t affect yours.',
    'Or wait: without new reports every listing ends within seven days.',
  ],
  rules: 'Listing rules',
  ruleList: [
    'Networks count, not reports: a thousand reports from one network are still one network. Evidence halves every few days.',
    'An address is listed at a score of 60, and only if networks of different providers reported it independently. No single source can list an address.',
    'It is delisted below a score of 35, or seven days after the last report. IPv6 addresses are counted by /64.',
    'We keep the address, service, number of events and time of each report for 30 days. Reporters stay anonymous: each network has a different pseudonym for every address.',
  ],
  providers: {
    before: 'Network providers: data from ',
    between: ', ',
    last: ' and the ',
    names: ['DB-IP', 'RouteViews', 'NRO'],
    after: ' (CC BY 4.0).',
  },
  activity: 'Current activity:',
  statistics: 'network statistics',
} as const

export const network = {
  weekBefore: 'the week before',
  title: 'Network statistics',
  lead: 'Attacks that servers reported to this service. Repeated reports count once.',
  loading: 'Loading statistics…',
  stats: {
    listed: 'Listed',
    watchlist: 'On the watchlist',
    day: 'Reports in 24 hours',
    week: 'Reports in 7 days',
    networks: 'Reporting networks',
  },
  empty: 'No reports yet.',
  perDay: 'Reports per day',
  chartText: (sum: number, days: number, peak: { day: string; count: number } | null) =>
    `${counted(sum, 'report')} in ${days} days${peak ? `, the most on ${peak.day}: ${numberText(peak.count)}` : ''}.`,
  reports: 'Reports',
  openDay: (day: string) => `Show the networks of ${day}`,
  table: 'Show as table',
  dayColumns: ['Day (UTC)', 'Reports'],
  services: 'Most attacked services',
  moreServices: 'Other attacked services',
  more: (count: number) => `${numberText(count)} more`,
  serviceColumns: ['Service', 'Reports', 'Share'],
  join: 'Report attacks from your server',
  joinText:
    'Run this as root on a server with fail2ban. Reporting is free and needs no account. It sends no log lines, user names or host names.',
  command: 'the command',
  oneAddress: 'A single address:',
  lookup: 'address lookup',
} as const

export const attackMap = {
  title: 'Attacks by network and service, last 7 days',
  titleOfDay: (day: string) => `Attacks by network and service on ${day}`,
  lastDays: 'Show the last 7 days',
  loading: 'Loading the networks…',
  empty: 'No reports in this time.',
  newest: (day: string) => `The newest are from ${day}.`,
  showNewest: 'Show that day',
  reports: 'Reports',
  network: 'Network',
  otherServices: 'Other services',
  others: (count: number) => counted(count, 'other network'),
  cell: (name: string, service: string) => `${name}: ${service}`,
  serviceCount: (service: string, count: string) => `${service} ${count}`,
  text: (reports: number, networks: number) =>
    `${counted(reports, 'report')} of attackers in ${counted(networks, 'network')}.`,
  open: (service: string) => `Show the blocklist for ${service}`,
  columns: ['Network', 'Reports', 'Services'],
} as const

export const appeals = {
  submit: 'Send appeal',
  reason: 'Cause and fix',
  reasonHint: 'An administrator may read it. It’s kept for 90 days.',
  missing: 'Describe the cause and the fix in a sentence.',
  granted: (ip: string) => `${ip} is delisted`,
  grantedText:
    'The evidence is deleted. Allow an hour until everyone who uses the blocklist has fetched it again.',
  sent: 'Appeal sent',
  sentText:
    'An administrator decides, because the appeal wasn’t sent from the listed address, or isn’t the first in 30 days.',
  title: 'Appeals',
  loading: 'Loading appeals…',
  empty: 'No appeals.',
  statuses: {
    open: 'Needs a decision',
    granted: 'Granted automatically',
    upheld: 'Delisted',
    rejected: 'Still listed',
  },
  own: 'Sent from the address itself',
  other: 'Sent from another address',
  wait: 'Decide later',
  accept: 'Delist',
  acceptTitle: (ip: string) => `Delist ${ip}?`,
  acceptText:
    'The evidence is deleted, and the networks that reported the addresses lose reputation.',
  reject: 'Keep listed',
  rejectTitle: (ip: string) => `Keep ${ip} listed?`,
  rejectText: 'The appeal is closed. Without new reports the listing ends within seven days.',
} as const

export const candidates = {
  title: 'Waiting for confirmation',
  loading: 'Loading addresses…',
  empty: 'No addresses are waiting.',
  columns: ['Address', 'Reason', 'Reports', 'Services', 'Last report'] as const,
  networks: 'Networks',
  operators: 'Known providers',
  rule: 'These addresses have enough reports, but the reports may come from one person with rented servers.',
  noTable: 'Without a network table, every new listing waits here.',
  tableDate: (date: string) => `Providers are known as of ${date}.`,
  reasons: {
    unknown_operators:
      'We can’t tell whether the reporting networks belong to different providers.',
    appealed:
      'An appeal was granted in the last 14 days, and no established network has reported it since.',
    well_known: 'Many services depend on this address, and none of your sensors has reported it.',
  },
  sources: (reports: number, networks: number, operators: number) =>
    `${counted(reports, 'report')} from ${counted(networks, 'network')} of ${counted(operators, 'known provider')}`,
  wait: 'Decide later',
  list: 'List',
  listTitle: (count: number) => `List ${counted(count, 'address', 'addresses')}?`,
  listText:
    'Everyone who uses the blocklist blocks them within minutes. A listing ends at the latest seven days after the last report.',
  discard: 'Discard reports',
  discardTitle: (count: number) =>
    `Discard the reports about ${counted(count, 'address', 'addresses')}?`,
  discardText:
    'The evidence is deleted, and the networks that reported the address lose reputation.',
} as const

export const administration = {
  title: 'Attack reporting administration',
  denied: 'Only administrators can see this page.',
  held: 'Blocklist update on hold',
  heldText: (before: number, after: number) =>
    `The blocklist would grow from ${counted(before, 'address', 'addresses')} to ${numberText(after)} at once. This may be an attack on the blocklist itself: check who reports before you publish it.`,
  publish: 'Publish',
  publishAbout: 'the update on hold',
  publishTitle: 'Publish the update?',
  publishText: 'Everyone who uses the blocklist applies it within minutes.',
  hold: 'Keep on hold',
} as const

export const ranges = {
  loading: 'Loading ranges…',
  allowlist: 'Allowlist',
  allowlistText:
    'Ranges of resolvers, search engines and other machines that many services depend on.',
  allowlistEmpty: 'No ranges on the allowlist.',
  sensors: 'Sensors',
  sensorsText: 'Your own servers and honeypots. Their reports count fully from the start.',
  sensorsEmpty: 'No sensors.',
  cidr: 'Address or range',
  label: 'Description',
  kind: 'Effect',
  kinds: { whitelist: 'Allowlist', canary: 'Canary', shared: 'Shared', sensor: 'Sensor' } as Record<
    string,
    string
  >,
  effects: {
    whitelist: 'Allowlist: never listed',
    canary: 'Canary: never listed; networks that report it lose reputation',
    shared: 'Shared: many people use this address, so a listing needs more evidence',
  },
  addSensor: 'Add sensor',
  addRange: 'Add range',
  added: 'added',
  remove: 'Remove',
  removeTitle: (cidr: string) => `Remove ${cidr}?`,
  removeText: 'It will count like any other address.',
} as const

export const servers = {
  title: 'Your servers',
  lead: 'One command makes fail2ban on a server report its attackers. The command contains a report token, which links the reports to your account.',
  create: 'Create install command',
  name: 'Server name',
  nameExample: 'web-1',
  block: 'Also block listed addresses',
  blockHint:
    'The firewall drops new connections from the shared blocklist and from what your servers report.',
  created: (label: string) => `Run this on ${label || 'the server'}`,
  installCommand: 'the install command',
  command: 'the command',
  createdText:
    'The secrets in it are shown only once. Run the command again after you add a fail2ban jail.',
  review: 'Review the script first',
  reviewSteps: 'the commands',
  manual: 'Report without fail2ban',
  loading: 'Loading your servers…',
  reports: 'Reports from your servers',
  columns: ['Server', 'Reports', 'Last 7 days', 'Listed now', 'Token'] as const,
  columnLabels: { reports: 'Reports', week: 'Last 7 days', listed: 'Listed now' },
  unnamed: 'Unnamed server',
  masked: (lastFour: string) => `ar_…${lastFour}`,
  revoke: 'Revoke',
  revokeTitle: (name: string) => `Revoke the token of “${name}”?`,
  filter: 'Filter by name',
  revokeSeveral: (count: number) => `Revoke ${counted(count, 'token')}?`,
  revokeText:
    'Further reports from this server count as anonymous. Its statistics are deleted. It blocks on until its bouncer key is revoked.',
  empty: 'No servers yet',
  emptyText:
    'Create an install command above. Reports without a token count the same, but don’t appear here:',
} as const

export const list = {
  title: 'Shared blocklist',
  count: (addresses: number) => `${counted(addresses, 'address', 'addresses')} listed.`,
  loading: 'Loading…',
  fresh: 'Changes appear within 15 seconds. You can download it as often as you like.',
  attackersOf: 'Attackers of',
  anyService: 'any service',
  formats: 'Formats',
  command: 'the command',
  setup: 'the setup commands',
  url: 'the URL of the blocklist',
  copyUrl: 'Copy blocklist URL',
} as const

/** Per export format: its name, its use, and an introduction to commands that run a single time. */
export const formats = {
  plain: {
    name: 'Plain',
    use: 'One address per line, sorted. pfSense, OPNsense, FortiGate and others can read this URL directly.',
  },
  nftables: {
    name: 'nftables',
    use: 'Replaces two sets atomically. Entries expire after 26 hours, so run it every hour.',
    setup: 'Run this once to drop packets from the addresses in the sets:',
  },
  ipset: {
    name: 'ipset',
    use: 'For iptables: replaces two sets atomically. Entries expire after 26 hours, so run it every hour.',
    setup: 'Run this once to drop packets from the addresses in the sets:',
  },
  nginx: {
    name: 'nginx',
    use: 'Sets $portreeve_listed for each request.',
    setup: 'Add this once, the first line to http {}, the second to a server {}:',
  },
  rbldnsd: {
    name: 'DNS',
    use: 'A DNS blocklist for IPv4 and IPv6, served by rbldnsd and queried by mail servers.',
    setup: 'Start rbldnsd once. It reloads the file when it changes:',
  },
  json: {
    name: 'JSON',
    use: 'Includes the score, confidence, services and last report of each address.',
  },
  csv: { name: 'CSV', use: 'All fields, for spreadsheets.' },
} as const

export const connect = {
  title: 'Connect a server',
  lead: 'Programs that report to this service or read its lists. Copy what they need.',
  secrets:
    'Create a report token and a bouncer key for a server. They appear in the recipes below until you leave this page.',
  name: 'Server or program',
  nameExample: 'firewall-1',
  create: 'Create token and key',
  created: (label: string) => `Token and key for ${label || 'the program'} created`,
  createdText:
    'Copy them now: they are shown only once, and fill in the recipes below. Revoke them under Your servers and Bans.',
  token: 'Report token',
  key: 'Bouncer key',
  tokenPlaceholder: 'REPORT_TOKEN',
  keyPlaceholder: 'BOUNCER_KEY',
  programs: 'Programs',
  steps: {
    run: 'Run',
    start: 'Start',
    url: 'URL',
    apiKey: 'API key',
    test: 'Test',
    sharedList: 'Blocklist',
    fleetList: 'Fleet list',
    frontend: 'frontend',
    headers: 'Header of the fleet list',
    password: 'Password of the fleet list, with any user name',
  },
  tools: {
    curl: {
      name: 'curl',
      use: 'For scripts of your own. The response names the server that the report counts for.',
    },
    fail2ban: {
      name: 'fail2ban',
      use: 'Reports bans, and blocks both lists with nftables or ipset.',
    },
    'crowdsec-agent': {
      name: 'CrowdSec agent',
      use: 'An agent without an engine of its own reports its alerts here.',
    },
    'crowdsec-engine': {
      name: 'CrowdSec engine',
      use: 'An engine reports with its notification plugin. Add the second line to a profile.',
    },
    'crowdsec-bouncer': { name: 'CrowdSec bouncer', use: 'Blocks the fleet list.' },
    abuseipdb: {
      name: 'AbuseIPDB scripts',
      use: 'Scripts for AbuseIPDB’s API v2 work with this URL and key.',
    },
    csf: {
      name: 'CSF',
      use: 'Copy clients/csf/portreeve-csf to /usr/local/csf/bin and write the URL into it.',
    },
    wazuh: {
      name: 'Wazuh',
      use: 'Copy clients/wazuh/custom-portreeve to /var/ossec/integrations.',
    },
    cowrie: {
      name: 'Cowrie',
      use: 'Copy clients/cowrie/portreeve.py to src/cowrie/output, also for T-Pot.',
    },
    alias: {
      name: 'pfSense, OPNsense',
      use: 'Create an alias of type URL Table (IPs) with this URL.',
    },
    mikrotik: { name: 'MikroTik', use: 'Fills the address list portreeve or portreeve_fleet.' },
    haproxy: { name: 'HAProxy', use: 'Denies requests from addresses of the map.' },
    cloudflare: { name: 'Cloudflare', use: 'Replaces the items of a list with the worst 10,000.' },
    misp: { name: 'MISP', use: 'Add a feed of the format MISP Feed.' },
    taxii: { name: 'TAXII 2.1', use: 'STIX 2.1 indicators of both lists.' },
  },
} as const
