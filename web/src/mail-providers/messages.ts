import type { MailClient } from './api.ts'

export const page = {
  title: 'Mail providers',
  lead: 'Register this service once at a provider. People can then sign in to their mailboxes there, without giving their password to this service.',
  loading: 'Loading the providers…',
  redirectUri: 'Redirect URI',
  redirectUriHint: 'Register exactly this address at each provider.',
  redirectUriCopy: 'the redirect URI',
} as const

export const client = {
  states: {
    none: 'Not set up',
    dashboard: 'Set up here',
    environment: 'Set in the environment',
    rejected: 'Rejected by the provider',
  },
  environment: (provider: string) =>
    `OAUTH_${provider.toUpperCase()}_CLIENT_ID and its secret or certificate are set in the environment. Change them there.`,
  clientId: 'Client ID',
  clientSecret: 'Client secret',
  keepSecret: 'Leave it empty to keep the stored secret or certificate.',
  tenant: 'Tenant',
  tenantHint:
    'The tenant ID for one organization, organizations for any, consumers for personal accounts, or common for all.',
  missingClientId: 'Enter the client ID.',
  save: 'Save',
  saved: (name: string) => `${name} is saved`,
  remove: 'Delete',
  removeTitle: (name: string) => `Delete the client of ${name}?`,
  removeText:
    'People can no longer sign in there, and migrations that use such sign-ins fail when their tokens expire.',
  guide: 'Step by step',
} as const

/** How this service is registered, in the words of each provider’s pages. */
export const guides: Record<MailClient['provider'], readonly string[]> = {
  google: [
    'Create a project in the Google Cloud console, and enable the Gmail API.',
    'Google Auth Platform, Branding: enter a name and an email address.',
    'Audience: choose Internal if all mailboxes belong to your Google Workspace, otherwise External.',
    'Data access: add the scope https://mail.google.com/.',
    'Clients, Create client: choose Web application, and enter the redirect URI above.',
    'Copy the client ID and the secret into this form.',
  ],
  microsoft: [
    'Open App registrations, New registration in the Entra admin center, and choose the account types.',
    'Enter the redirect URI above for the platform Web.',
    'API permissions, APIs my organization uses, Office 365 Exchange Online, Delegated permissions: add IMAP.AccessAsUser.All. From Microsoft Graph, add offline_access, openid, email and profile.',
    'Grant admin consent.',
    'Certificates & secrets: upload a certificate, without its key, or choose New client secret and copy its value.',
    'Copy the application (client) ID into this form, and add the secret, or the certificate with its key.',
  ],
  yahoo: [
    'Apply for access to mail on the Yahoo Sender Hub. Yahoo gives it only under an agreement.',
    'Create an app with the redirect URI above and the permission Mail: read/write.',
    'Copy the client ID and the secret into this form.',
  ],
  fastmail: [
    'Ask Fastmail for a client ID with the scope https://www.fastmail.com/dev/protocol-imap and the redirect URI above.',
    'Copy the client ID into this form.',
  ],
  other: [
    'Register a confidential client with the grant types authorization code and refresh token, and with the redirect URI above.',
    'Copy the client ID and the secret into this form. The other settings are in the environment (OAUTH_OTHER_…).',
  ],
}
