import { counted, numberText } from '../ui/text/format.ts'

export const check = {
  title: 'Check',
  titleOf: (target: string) => `Check of ${target}`,
  lead: 'Enter a domain, IP address, URL, email address, or a host and port. We run every check that applies.',
  field: 'Domain, IP address, URL or email address',
  recent: 'Recent checks:',
  fieldExample: 'example.com or 192.0.2.1',
  submit: 'Check',
  notATarget: 'Enter a domain such as example.com, or an IP address such as 192.0.2.1.',
  checking: 'Checking…',
  checkAgain: 'Check again',
  attackReports: 'Attack reports',
  printedBy: (service: string) => `By ${service},`,
} as const

/** Buttons beside a result. */
export const actions = {
  share: 'Share',
  print: 'Print',
  monitor: 'Monitor this host',
  monitorAddress: 'Monitor this address',
  showMonitored: 'View monitored host',
  delist: 'Start delisting',
} as const

export const result = {
  answers: 'Blocklists checked',
  progress: (done: number, total: number, listed: number) =>
    `${done} of ${total} checked, ${listed === 0 ? 'no listings' : counted(listed, 'listing')} so far.`,
  api: 'API',
  command: 'the command',
  json: 'the JSON',
} as const

export const warnings = {
  problems: 'Problems',
  suggestions: 'Suggestions',
  suggestionCount: (count: number) => counted(count, 'suggestion'),
  publish: (type: string) => `Publish as ${type} at`,
  record: (name: string) => `the record for ${name}`,
} as const

/** The text of an item whose DNS query failed. */
const unknownBecause = (error: string) => `Unknown: ${error}`

export const dns = {
  title: 'DNS records',
  fields: {
    cname: 'Alias for (CNAME)',
    a: 'IPv4 (A)',
    aaaa: 'IPv6 (AAAA)',
    mx: 'Mail servers (MX)',
    txt: 'Text (TXT)',
    ns: 'Name servers (NS)',
    caa: 'Certificate authorities (CAA)',
  },
  unknown: unknownBecause,
  none: 'None',
} as const

export const mailAuth = {
  title: 'Email authentication',
  truncated: (omitted: string) => `Not checked in time: ${omitted}`,
  fields: {
    dmarc: 'DMARC',
    spf: 'SPF',
    dkim: 'DKIM',
    mtaSts: 'MTA-STS',
    tlsRpt: 'TLS reports',
    bimi: 'BIMI',
  },
  inherited: (domain: string) => `Inherited from ${domain}.`,
  lookups: (count: number) => `Uses ${numberText(count)} of 10 allowed DNS lookups.`,
  mode: (mode: string) => `Policy mode: ${mode}.`,
  unknown: unknownBecause,
  none: 'None',
  noKeys: (tried: number) => `No key found at ${counted(tried, 'selector')}.`,
  revoked: 'revoked',
  testing: 'testing',
  bits: (bits: number) => `${bits} bits`,
} as const

export const certificate = {
  title: 'Certificate',
  issuedBy: 'Issued by',
  validUntil: 'Valid until',
  validFrom: 'Valid from',
  names: 'Names',
  connection: 'Connection',
  key: 'Key',
  bits: (bits: number) => `${bits} bits`,
  server: 'Server',
  address: (address: string, port: number) => `${address}, port ${port}`,
} as const

export const blocklists = {
  title: 'Blocklists',
  captions: { listed: 'Listed', unknown: 'Couldn’t be checked', clean: 'Not listed' },
  cleanCount: (count: number) => `Not listed: ${counted(count, 'blocklist')}`,
  columns: ['Blocklist', 'Category', 'Result'],
  category: 'Category',
  states: { listed: 'Listed', unknown: 'Unknown', clean: 'Not listed' },
  removal: (list: string) => `Removal from ${list}`,
} as const

export const sharing = {
  created: 'Anyone with this link can see these results',
  link: 'the link',
  validUntil: 'They stay as they are now, until',
  about:
    'A link shows these results as they are now, for 30 days, to anyone who has it. You can delete it.',
  create: 'Create link',
  allLinks: 'All links are under',
  list: 'Shared results',
  linkTo: (target: string) => `the link to ${target}`,
  delete: 'Delete link',
  deleteAbout: (target: string) => `to ${target}`,
  deleteTitle: (target: string) => `Delete the link to ${target}?`,
  deleteText: 'The link stops working for everyone who has it.',
  createdAt: 'Created',
  until: 'until',
} as const

/** The page behind a link to shared results. */
export const shared = {
  notFound: 'Link not found',
  home: 'Go to the home page',
  loading: 'Loading results…',
  print: 'Print',
  asOf: 'Results as of',
  snapshot: 'They aren’t updated. The link works until',
  current: 'Current state:',
  checkAgain: (target: string) => `check ${target} again`,
} as const
