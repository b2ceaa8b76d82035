export const page = {
  title: 'Mailbox sign-ins',
  back: 'Migrations',
  lead: 'Sign-ins that migrations and report mailboxes use in place of passwords. Tokens, keys and secrets are stored encrypted and never shown.',
  loading: 'Loading sign-ins…',
  caption: 'Sign-ins to mailboxes',
  columns: ['Sign-in', 'State', 'Kept until', 'Actions'],
  kinds: {
    person: (provider: string) => `One mailbox at ${provider}`,
    service_account: (provider: string) => `All mailboxes at ${provider}, as a service account`,
    app: (provider: string) => `All mailboxes at ${provider}, as an application`,
  },
  clientId: (id: string) => `Client ID ${id}`,
  valid: 'Ready',
  ended: 'Needs a new sign-in',
  rejected: 'Rejected',
  check: 'Check again',
  replace: 'Replace',
  remove: 'Delete',
  removing: (account: string) => `Deleting the sign-in of ${account}`,
  empty: 'No sign-ins yet',
  emptyText:
    'Add one below to open all mailboxes of an organization. Sign-ins of single mailboxes begin in the form of a migration.',
} as const

export const form = {
  title: 'Add a sign-in for all mailboxes',
  lead: 'One sign-in of an administrator copies all mailboxes of an organization, without their passwords.',
  provider: 'Provider',
  providers: {
    service_account: (name: string) => `${name}: service account`,
    app: (name: string) => `${name}: application`,
  },
  key: 'Key file (JSON)',
  chooseKey: 'Choose the key file',
  dropKey: 'The JSON file that you downloaded, or drop it here.',
  missingKey: 'Choose the key file.',
  keyHint: (scope: string) =>
    `In the Admin console, allow the client ID of the service account to use the scope ${scope}.`,
  user: 'A mailbox to check it with (optional)',
  userExample: 'alice@example.com',
  tenant: 'Tenant ID or domain',
  tenantExample: 'example.com',
  missingTenant: 'Enter the tenant ID, or a domain of the organization.',
  clientId: 'Application (client) ID',
  missingClientId: 'Enter the application ID.',
  clientSecret: 'Client secret (value)',
  missingClientSecret: 'Enter the value of the client secret, or choose a certificate.',
  appHint: 'The application needs IMAP.AccessAsApp with admin consent, and access to each mailbox.',
  guide: 'Step by step',
  submit: 'Check and add',
  replaceTitle: (account: string) => `Replace the key of ${account}`,
  replaceSubmit: 'Check and replace',
} as const

export const keyFiles = {
  chosen: (names: string) => `Chosen: ${names}`,
  other: 'Choose other files',
  tooLarge: 'These aren’t key files: they are larger than 20 kB.',
} as const

export const certificate = {
  choose: 'Or choose a certificate with its key',
  drop: 'PEM files, in place of the secret. Choose both if there are two.',
  bothSecrets: 'Use a client secret or a certificate, not both.',
  states: {
    valid: 'Certificate valid until',
    expiring: 'Certificate expires soon',
    expired: 'Certificate expired on',
  },
  thumbprint: (hex: string) => `Thumbprint ${hex}`,
} as const
