export const account = {
  host: 'IMAP server',
  hostExample: 'imap.example.com',
  user: 'User name',
  userExample: 'alice@example.com',
  missingHost: 'Enter the name of the server, such as imap.example.com.',
  missingUser: 'Enter the user name you sign in with.',
  wrongPort: 'Enter a port from 1 to 65535.',
  missingAdministrator: 'Enter the user name of the administrator.',
} as const

export const secret = {
  password: 'Password',
  accessToken: 'Access token',
  tokenHint:
    'For servers with OAuth (XOAUTH2), such as Gmail and Microsoft 365. Most tokens are valid for an hour. If one expires during a migration, copied messages stay: retry with a new token.',
  missingPassword: 'Enter the password.',
  missingToken: 'Enter the access token.',
  usePassword: 'Use the password instead',
  useToken: 'Use an access token instead',
} as const

export const provider = {
  signIn: (name: string) => `Sign in with ${name}`,
  signedIn: (user: string | undefined) =>
    user ? `Signed in as ${user}` : 'Signed in at the provider',
  ended: 'The sign-in has ended. Sign in again.',
  correct: 'Correct the sign-in',
  waiting: 'Complete the sign-in in the other window.',
  expired: 'The sign-in was not completed in time. Start it again.',
} as const

export const connection = {
  advanced: 'Port and security',
  security: 'Connection security',
  tls: 'TLS',
  starttls: 'STARTTLS',
  port: 'Port',
  verify: 'Verify the certificate',
  verifyHint: 'Turn this off only for your own server with a certificate you know.',
} as const

export const administrator = {
  summary: 'Sign in as an administrator',
  method: 'Method',
  none: 'No: sign in as the user',
  methods: {
    authzid: 'SASL PLAIN (Dovecot, Zimbra, Cyrus and others)',
    cyrus: 'Cyrus that hides its name',
    master: 'Combined name, user*administrator (Dovecot)',
  },
  hint: 'One administrator’s password can open all mailboxes of a server. Enter it as the password above.',
  user: 'Administrator’s user name',
} as const

export const stored = {
  use: (name: string) => `Use ${name}`,
  useKind: {
    person: 'Sign-in at the provider',
    service_account: 'Service account',
    app: 'Application',
  },
  signIn: 'Sign in with',
  password: 'Passwords of the list',
  choice: (name: string, kind: string) => `${name} (${kind})`,
} as const

export const owner = {
  choose: 'Let the owner sign in',
  chosen: 'The owner signs in by a link',
  hint: 'You create the link on the page of the migration. It continues by itself after the sign-in.',
  choice: 'The owner of each mailbox, by a link',
} as const
