import type { Config } from '../config.ts'
import { readClientCertificate, type ClientCertificate } from './clients/client-certificate.ts'

/** Providers of mailboxes at which people can allow this service to sign in. */
export const PROVIDER_IDS = ['google', 'microsoft', 'yahoo', 'fastmail', 'other'] as const
export type ProviderId = (typeof PROVIDER_IDS)[number]

/** What a person allows with a sign-in: access to a mailbox, or to statistics about their domains. */
export const PURPOSES = ['mailbox', 'postmaster'] as const

/** SNDS has a client of its own, whose answers never come to this service. */
export type Purpose = (typeof PURPOSES)[number] | 'snds'

/** A provider for which the operator has registered this service. */
export type MailProvider = {
  id: ProviderId
  name: string
  clientId: string
  clientSecret: string | undefined
  /** In place of a secret. */
  clientCertificate: ClientCertificate | undefined
  /** Its metadata are found by its issuer, unless it publishes none. */
  issuer: string
  endpoints: { authorization: string; token: string; device?: string | undefined } | null
  /** Scopes without which its IMAP servers reject a token. */
  mailScopes: string[]
  /** Scopes for a refresh token and for the identity of the person. */
  otherScopes: string[]
  /** Further parameters of the authorization request. */
  parameters: Record<string, string>
  /** Its IMAP servers. A token is sent to no other host. */
  hosts: string[]
  /** What a sign-in opens, where it is no mailbox. */
  subject?: string
  /** Whether its device codes are valid for mailboxes. */
  hasDeviceCode: boolean
  /** Where the answers go for a client of the provider itself (RFC 8252, 7.3): a person pastes them. */
  loopbackUri?: string
}

/** The client of this service at a provider. */
export type MailClient = Pick<MailProvider, 'clientId' | 'clientSecret' | 'clientCertificate'>

export type ProviderConfig = Pick<Config, Extract<keyof Config, `OAUTH_${string}`>>

type Known = Omit<MailProvider, 'id' | keyof MailClient>

const GOOGLE: Known = {
  name: 'Google',
  issuer: 'https://accounts.google.com',
  endpoints: null,
  mailScopes: ['https://mail.google.com/'],
  otherScopes: ['openid', 'email'],
  // Without these, Google returns a refresh token at the first consent only.
  parameters: { access_type: 'offline', prompt: 'consent' },
  hosts: ['imap.gmail.com', 'imap.googlemail.com'],
  // Google’s device flow does not allow the scope of Gmail.
  hasDeviceCode: false,
}

const microsoft = (tenant: string): Known => ({
  name: 'Microsoft',
  issuer: `https://login.microsoftonline.com/${tenant}/v2.0`,
  endpoints: null,
  mailScopes: ['https://outlook.office.com/IMAP.AccessAsUser.All'],
  otherScopes: ['offline_access', 'openid', 'email', 'profile'],
  // `consent` would ask people again for what an administrator has approved.
  parameters: { prompt: 'select_account' },
  hosts: ['outlook.office365.com', 'outlook.office.com', 'imap-mail.outlook.com'],
  hasDeviceCode: true,
})

const YAHOO: Known = {
  name: 'Yahoo',
  issuer: 'https://api.login.yahoo.com',
  endpoints: {
    authorization: 'https://api.login.yahoo.com/oauth2/request_auth',
    token: 'https://api.login.yahoo.com/oauth2/get_token',
  },
  mailScopes: ['mail-r', 'mail-w'],
  otherScopes: [],
  parameters: {},
  hosts: ['imap.mail.yahoo.com', 'export.imap.mail.yahoo.com', 'imap.aol.com'],
  hasDeviceCode: false,
}

const FASTMAIL: Known = {
  name: 'Fastmail',
  issuer: 'https://api.fastmail.com',
  endpoints: {
    authorization: 'https://api.fastmail.com/oauth/authorize',
    token: 'https://api.fastmail.com/oauth/refresh',
  },
  mailScopes: ['https://www.fastmail.com/dev/protocol-imap'],
  otherScopes: ['offline_access'],
  parameters: {},
  hosts: ['imap.fastmail.com'],
  hasDeviceCode: false,
}

/** The IMAP servers of the providers that every service knows. */
export const KNOWN_HOSTS: { id: ProviderId; hosts: string[] }[] = [
  { id: 'google', hosts: GOOGLE.hosts },
  { id: 'microsoft', hosts: microsoft('common').hosts },
  { id: 'yahoo', hosts: YAHOO.hosts },
  { id: 'fastmail', hosts: FASTMAIL.hosts },
]

/** Whether an IMAP server is one of a provider that every service knows, and proves that. */
export function isOfKnownProvider({
  host,
  tlsVerify,
}: {
  host: string
  tlsVerify: boolean
}): boolean {
  return tlsVerify && KNOWN_HOSTS.some(({ hosts }) => hosts.includes(host.toLowerCase()))
}

/** Scopes of OpenID Connect, which allow no access to mail. */
const IDENTITY_SCOPES = new Set(['openid', 'email', 'profile', 'offline_access'])

function otherProvider(config: ProviderConfig): Known {
  const scopes = (config.OAUTH_OTHER_SCOPE ?? '').split(' ').filter((scope) => scope !== '')
  const { OAUTH_OTHER_AUTHORIZATION_URL: authorization, OAUTH_OTHER_TOKEN_URL: token } = config
  const device = config.OAUTH_OTHER_DEVICE_URL
  const endpoints =
    authorization === undefined || token === undefined ? null : { authorization, token, device }
  return {
    name: config.OAUTH_OTHER_NAME,
    issuer: config.OAUTH_OTHER_ISSUER ?? new URL(token ?? 'https://localhost').origin,
    endpoints,
    mailScopes: scopes.filter((scope) => !IDENTITY_SCOPES.has(scope)),
    otherScopes: scopes.filter((scope) => IDENTITY_SCOPES.has(scope)),
    // OpenID Connect Core 1.0, 11: needed for offline_access.
    parameters: scopes.includes('offline_access') ? { prompt: 'consent' } : {},
    hosts: config.OAUTH_OTHER_HOSTS,
    hasDeviceCode: true,
  }
}

const KNOWN: Record<ProviderId, (config: ProviderConfig, tenant?: string | null) => Known> = {
  google: () => GOOGLE,
  microsoft: (config, tenant) => microsoft(tenant ?? config.OAUTH_MICROSOFT_TENANT),
  yahoo: () => YAHOO,
  fastmail: () => FASTMAIL,
  other: otherProvider,
}

/** The settings with the certificate of a client, at the providers that accept one. */
const CERTIFICATE_SETTINGS: Partial<
  Record<ProviderId, 'OAUTH_MICROSOFT_CERTIFICATE_FILES' | 'OAUTH_OTHER_CERTIFICATE_FILES'>
> = {
  microsoft: 'OAUTH_MICROSOFT_CERTIFICATE_FILES',
  other: 'OAUTH_OTHER_CERTIFICATE_FILES',
}

/** Whether a client can authenticate itself with a certificate. */
export const acceptsCertificate = (id: ProviderId): boolean => id in CERTIFICATE_SETTINGS

/**
 * The providers that have a client ID in the settings.
 * @throws Fault `invalid_request` for a certificate that cannot be used
 */
export function configuredProviders(config: ProviderConfig): MailProvider[] {
  return PROVIDER_IDS.flatMap((id) => {
    const name = id.toUpperCase() as Uppercase<ProviderId>
    const clientId = config[`OAUTH_${name}_CLIENT_ID`]
    if (clientId === undefined) return []
    const clientSecret = config[`OAUTH_${name}_CLIENT_SECRET`]
    const setting = CERTIFICATE_SETTINGS[id]
    const pem = setting && config[setting]
    const clientCertificate = pem ? readClientCertificate(pem, setting) : undefined
    return [{ ...KNOWN[id](config), id, clientId, clientSecret, clientCertificate }]
  })
}

/** The providers for which a client ID can be entered: the other one needs further settings. */
export function offeredProviders(
  config: ProviderConfig,
): { id: ProviderId; name: string; hosts: string[] }[] {
  return PROVIDER_IDS.flatMap((id) => {
    if (id === 'other' && !hasOtherProvider(config)) return []
    const { name, hosts } = KNOWN[id](config)
    return [{ id, name, hosts }]
  })
}

function hasOtherProvider(config: ProviderConfig): boolean {
  const { OAUTH_OTHER_HOSTS: hosts, OAUTH_OTHER_SCOPE: scope = '' } = config
  const hasEndpoint = (config.OAUTH_OTHER_ISSUER ?? config.OAUTH_OTHER_TOKEN_URL) !== undefined
  return hosts.length > 0 && scope !== '' && hasEndpoint
}

/** A provider with a client that was entered; undefined when its settings were removed. */
export function providerWithClient(
  config: ProviderConfig,
  id: ProviderId,
  { tenant, ...client }: MailClient & { tenant: string | null },
): MailProvider | undefined {
  if (!offeredProviders(config).some((offered) => offered.id === id)) return undefined
  return { ...KNOWN[id](config, tenant), id, ...client }
}

const GOOGLE_ENDPOINTS = {
  authorization: 'https://accounts.google.com/o/oauth2/v2/auth',
  token: 'https://oauth2.googleapis.com/token',
}

/** Accepts every tenant of Microsoft 365. */
const MICROSOFT_APP_SCOPE = 'https://outlook.office365.com/.default'

/** How administrators sign in to all mailboxes of a provider, where it offers that. */
export const ADMINISTRATOR_KINDS: Record<ProviderId, readonly ('service_account' | 'app')[]> = {
  google: ['service_account'],
  microsoft: ['app'],
  yahoo: [],
  fastmail: [],
  other: ['service_account', 'app'],
}

/** Reads traffic statistics of Google Postmaster Tools (v2), and changes nothing there. */
const POSTMASTER_SCOPE = 'https://www.googleapis.com/auth/postmaster.traffic.readonly'

/** The public client of the SNDS portal. Microsoft lets nobody register another one for its API. */
const SNDS_CLIENT_ID = 'a53a6cc1-a1cd-46f7-a4aa-281cdabec33c'

/** Microsoft as people sign in there for SNDS: with personal accounts only. */
export const SNDS_PROVIDER: MailProvider = {
  ...microsoft('consumers'),
  id: 'microsoft',
  clientId: SNDS_CLIENT_ID,
  clientSecret: undefined,
  clientCertificate: undefined,
  mailScopes: [`${SNDS_CLIENT_ID}/.default`],
  otherScopes: ['offline_access', 'openid', 'profile'],
  hosts: [],
  subject: 'SNDS',
  hasDeviceCode: false,
  loopbackUri: 'http://localhost',
}

/** The provider as a sign-in for a purpose uses it; undefined where it offers none. */
export function providerFor(provider: MailProvider, purpose: Purpose): MailProvider | undefined {
  if (purpose === 'mailbox' || provider === SNDS_PROVIDER) return provider
  if (provider.id !== 'google') return undefined
  return { ...provider, mailScopes: [POSTMASTER_SCOPE], hosts: [], subject: 'Postmaster Tools' }
}

/** The client of an administrator: of a Microsoft tenant, with a secret or certificate, or without. */
type AdministratorClient = Partial<MailClient> & { clientId: string; tenant?: string }

/**
 * The provider as an administrator’s credential uses it. Google and Microsoft need no client of this
 * service for that.
 * @param other the other provider, if it is set up
 */
export function administratorProvider(
  id: ProviderId,
  { clientId, clientSecret, clientCertificate, tenant = 'common' }: AdministratorClient,
  other: MailProvider | undefined,
): MailProvider | undefined {
  const client = { id, clientId, clientSecret, clientCertificate }
  if (id === 'google') return { ...GOOGLE, ...client, endpoints: GOOGLE_ENDPOINTS }
  if (id === 'other') return other && { ...other, ...client }
  if (id !== 'microsoft') return undefined
  const base = `https://login.microsoftonline.com/${tenant}/oauth2/v2.0`
  const endpoints = { authorization: `${base}/authorize`, token: `${base}/token` }
  return { ...microsoft(tenant), ...client, endpoints, mailScopes: [MICROSOFT_APP_SCOPE] }
}

/** Whether the provider says whose mailbox a permission is for. */
export function identifiesPerson({ otherScopes }: MailProvider): boolean {
  return otherScopes.includes('openid')
}
