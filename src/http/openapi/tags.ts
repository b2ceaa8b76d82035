/**
 * The groups of the API reference, in its order: their descriptions, and the paths under which their
 * operations are.
 */
export const TAGS: Record<string, { description: string; paths: string[] }> = {
  Checks: {
    description: 'DNS, TLS, blocklist and mail authentication checks of a name or address.',
    paths: ['blacklist-check', 'dmarc-check', 'dns-check', 'ssl-check', 'shared-checks'].map(inV1),
  },
  Domains: {
    description: 'Everything about the mail of a domain: its state, fixes, and history.',
    paths: ['/api/v1/domains'],
  },
  Addresses: {
    description: 'Everything that is known of an address: mail, listings, attack reports, bans.',
    paths: ['/api/v1/addresses'],
  },
  'Mail tests': {
    description: 'Mails that are sent to a test address, as their receivers see them.',
    paths: ['/api/v1/mail-tests', '/api/v1/shared-mail-tests'],
  },
  Complaints: {
    description: 'Complaints of recipients about mail, as providers report them.',
    paths: ['/api/v1/complaints'],
  },
  Canaries: {
    description: 'Mails to your own mailboxes, and where they arrive.',
    paths: ['/api/v1/canaries'],
  },
  'Provider statistics': {
    description:
      'What Google Postmaster Tools and Microsoft SNDS say of your mail, and the access to them.',
    paths: ['/api/v1/postmaster', '/api/v1/snds', '/api/v1/spam-rates'],
  },
  'DMARC reports': {
    description: 'Domains, their reports, and the mailboxes that reports are read from.',
    paths: ['/api/v1/dmarc'],
  },
  Monitoring: {
    description: 'Hosts that are checked regularly.',
    paths: ['/api/v1/monitoring'],
  },
  Delisting: {
    description: 'Removal of an address from blocklists.',
    paths: ['/api/v1/delisting'],
  },
  Alerts: {
    description: 'Alerts of the account, and the channels they are sent to.',
    paths: ['/api/v1/alerts', '/api/v1/digest'],
  },
  Migration: {
    description: 'Migration of mailboxes between IMAP servers.',
    paths: ['/api/v1/imap'],
  },
  'Migration batches': {
    description: 'Migration of many mailboxes from one list.',
    paths: ['/api/v1/imap/batches'],
  },
  'Attack reporting': {
    description: 'Reports of attackers, and the blocklist built from them.',
    // With the paths of AbuseIPDB and of CrowdSec.
    paths: ['/api/v1/abuse', '/api/v2', '/v1'],
  },
  Webhooks: {
    description: 'Endpoints that capture requests.',
    paths: ['/api/webhook', '/api/v1/shared-webhook-requests'],
  },
  Workspaces: {
    description: 'Workspaces, their members and invitations.',
    paths: ['/api/v1/workspaces', '/api/v1/accounts/workspaces', '/api/v1/invitations'],
  },
  Tokens: { description: 'API tokens.', paths: ['/api/v1/tokens'] },
  Accounts: {
    description: 'Accounts and their data.',
    paths: ['account', 'accounts', 'audit', 'events', 'overview', 'problems'].map(inV1),
  },
  'Sign-in': {
    description: 'Sessions and passwords.',
    paths: ['/api/auth', '/api/v1/password-reset'],
  },
  Service: {
    description: 'The service itself.',
    paths: [
      ...['service', 'setup', 'sign-up'].map(inV1),
      '/healthz',
      '/readyz',
      '/openapi.json',
      '/.well-known',
    ],
  },
}

function inV1(name: string): string {
  return `/api/v1/${name}`
}

const NAMES = new Map(
  Object.entries(TAGS).flatMap(([name, { paths }]) => paths.map((path) => [path, name])),
)

/** The group of an operation: that of the longest of its leading paths. */
export function tagOf(path: string): string | undefined {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    const name = NAMES.get(path.slice(0, end))
    if (name !== undefined) return name
  }
  return undefined
}
