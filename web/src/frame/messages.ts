import { counted } from '../ui/text/format.ts'

/** Around every screen: navigation, command palette, keyboard shortcuts. */
export const frame = {
  name: 'Portreeve',
  mainNavigation: 'Main',
  guide: 'Guide',
  documentation: 'API documentation',
  openApi: 'openapi.json',
  version: (version = '') => `Portreeve ${version}`,
  more: 'More',
  moreScreens: 'More screens',
  close: 'Close',
  skip: 'Skip to content',
  /** Completes a number of problems for screen readers. */
  open: 'open',
} as const

/** Over every screen, while the service does not answer or the session has ended. */
export const connection = {
  reconnecting: 'Reconnecting…',
  expired: 'Your session has expired.',
  signIn: 'Sign in',
} as const

/** Over every screen of a demo. */
export const demo = {
  label: 'Demo',
  text: 'This demo is read-only.',
  install: 'Install it',
} as const

/** Names of the screens in the navigation. */
export const screens = {
  overview: 'Overview',
  alerts: 'Problems',
  domains: 'Domains',
  servers: 'Servers & IPs',
  serversShort: 'Servers',
  migrations: 'Migrations',
  attacks: 'Attacks',
  webhooks: 'Webhooks',
  settings: 'Settings',
  check: 'Check',
  dmarc: 'DMARC',
  delisting: 'Delisting',
  tokens: 'API tokens',
  workspace: 'Workspace',
  account: 'Account',
} as const

/** The side menu of the settings. */
export const settings = {
  label: 'Settings',
  all: 'All settings',
  you: 'You',
  workspaces: 'Your workspaces',
  workspace: 'Workspace',
  members: 'Members',
  invitations: 'Invitations',
  channels: 'Alert channels',
  rules: 'Alert rules',
  digest: 'Digest',
  audit: 'Audit log',
  attacks: 'Attacks',
  relays: 'Relays',
  abuseMails: 'Abuse emails',
  federation: 'Federation',
  sharedList: 'Shared list',
  installation: 'Installation',
  health: 'Health',
  accounts: 'Accounts',
  allWorkspaces: 'All workspaces',
  mailProviders: 'Mail providers',
  installationAudit: 'Administrator actions',
} as const

/** Further words by which people search a screen. */
export const keywords = {
  dmarc: 'dkim spf tls reports policy senders',
  delisting: 'blocklists removal',
  servers: 'monitoring hosts blocklists certificates tls ip addresses',
  settings: 'preferences configuration options',
  account: 'password two factor 2fa authenticator passkey sessions profile name email security',
  tokens: 'api key access rest',
  channels: 'notifications email slack chat webhook push',
  rules: 'filter silence quiet hours',
  digest: 'weekly daily summary report email',
  members: 'people users team roles',
  audit: 'history actions log who',
  relays: 'abuseipdb dshield forward reports',
  mailProviders: 'google microsoft oauth gmail outlook',
} as const

export const palette = {
  open: 'Search or check…',
  dialog: 'Search',
  label: 'Search for a screen or an action, or check an address or domain',
  placeholder: 'A screen, an action, or a domain or address to check',
  results: 'Results',
  noResults: (text: string) => `No results for “${text}”`,
  resultCount: (count: number) => `${counted(count, 'result')}.`,
  checkTarget: (name: string) => `Check ${name}`,
  delistingOf: (ip: string) => `Delisting of ${ip}`,
  kinds: {
    addressCheck: 'Mail, blocklists, attacks, bans',
    domainCheck: 'Mail, certificate, DNS',
    screen: 'Screen',
    action: 'Action',
    account: 'Account',
    administration: 'Administration',
    host: 'Monitored host',
    delisting: 'Delisting',
    domain: 'DMARC reports',
    endpoint: 'Webhook',
    domainPage: 'Domain',
    migration: 'Migration',
    batch: 'Batch of migrations',
    mailTest: 'Mail test',
    appearance: 'Appearance',
  },
  checkDomain: 'Check a domain…',
  addHost: 'Add a host',
  addHostKeywords: 'monitor monitoring',
  addDomain: 'Add a DMARC domain',
  addMailbox: 'Add a report mailbox',
  newToken: 'New API token',
  newChannel: 'New alert channel',
  newChannelKeywords: 'add notification chat push phone paging email webhook',
  newRule: 'New alert rule',
  newEndpoint: 'New webhook endpoint',
  signOut: 'Sign out',
  signOutKeywords: 'log out logout',
  themes: { light: 'Light mode', dark: 'Dark mode', auto: 'System theme' },
  themeKeywords: 'theme appearance colors',
  newMigration: 'New migration',
  newDelisting: 'New delisting',
  exportData: 'Export my data',
  deleteAccount: 'Delete my account',
  accounts: 'Accounts',
  workspaces: 'Workspaces of this service',
  mailProviders: 'Mail providers',
  auditLog: 'Audit log',
  auditKeywords: 'administrator actions',
} as const

export const shortcuts = {
  title: 'Keyboard shortcuts',
  close: 'Close',
  everywhere: 'Everywhere',
  always: 'Always',
  search: 'Search or check an address',
  thisSheet: 'Show keyboard shortcuts',
  nextRow: 'Next row',
  previousRow: 'Previous row',
  tab: 'Next link, button or field',
  escape: 'Close the open dialog',
} as const

export const errors = {
  notFoundTitle: 'Page not found',
  notFoundLead: 'There’s nothing at this address.',
  home: 'Go to the home page',
  overview: 'Go to the overview',
  brokenTitle: 'Couldn’t load this page',
  newVersion: 'Portreeve was updated. Reload the page to use the new version.',
  reload: 'Reload',
  tryAgain: 'Try again',
} as const

export const welcome = {
  title: 'Keep your mail and your servers in good standing',
  lead:
    'Portreeve is a self-hosted toolkit for people who run mail and servers. ' +
    'It runs on your own machine, with its own database.',
  features: [
    {
      name: 'Checks',
      words:
        'DNS records, certificates, SPF, DKIM and DMARC of a domain, and more than 80 blocklists for an IP address.',
    },
    {
      name: 'Reports and monitoring',
      words:
        'Receives DMARC reports, monitors your hosts on blocklists, and tracks every delisting step by step.',
    },
    {
      name: 'Mailbox migration',
      words:
        'Copies folders, messages, flags and dates between IMAP servers, and verifies every message.',
    },
    {
      name: 'Attack reporting',
      words: 'Collects reports of attackers from your servers and publishes one shared blocklist.',
    },
    {
      name: 'Webhook capture',
      words:
        'Gives you a URL that stores every request sent to it and responds the way you configure.',
    },
  ],
  featuresTitle: 'Features',
  publicTitle: 'Open to everyone',
  interfacesTitle: 'Dashboard, command line and API',
  interfaces:
    'Use this dashboard, the command line (`npx portreeve check dns example.com`), or an API that does everything the dashboard does.',
  readDocs: 'Read the API documentation',
  or: 'or download',
  signIn: 'Sign in',
  noAccountTitle: 'No account exists yet',
  noAccount:
    'Open the setup link that the service printed when it started. It creates the first account and ends in `/setup#…`',
} as const
