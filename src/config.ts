import { join, resolve, sep } from 'node:path'
import { Fault, messageOf, type FaultDetail } from './errors.ts'
import { findInstallation, type Installation } from './installation.ts'
import { ROOT } from './version.ts'
import {
  backupArchive,
  basePathOf,
  bytes,
  contact,
  databaseUrl,
  dnsServer,
  endpointOrOff,
  fileTexts,
  imapAddress,
  integer,
  keyOfZone,
  list,
  oneOf,
  optional,
  port,
  privateTargets,
  processes,
  proxy,
  publicUrl,
  readText,
  returnPath,
  scopes,
  secretKey,
  spamdAddress,
  tenant,
  text,
  urlOf,
  type BackupArchive,
} from './setting-values.ts'

const ROLES = ['web', 'worker', 'smtp'] as const
export const PLANS = ['free', 'starter', 'pro', 'business', 'enterprise'] as const
export type Plan = (typeof PLANS)[number]

const LOG_FORMATS = ['auto', 'text', 'json'] as const

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

type Setting<T> = {
  /** The default, as the documentation shows it; it is parsed when the variable is not set. */
  default: string
  /** Describes the default where it is computed from other settings. */
  defaultText?: string
  description: string
  /** Throws an Error whose message completes "NAME …". */
  parse: (text: string) => T
  /** Its value never appears in a log or an error. */
  secret?: true
}

/** A setting that is described without a default has none, unless the text says otherwise. */
function setting<T>(spec: Omit<Setting<T>, 'default'> & { default?: string }): Setting<T> {
  return spec.default === undefined
    ? { default: '', defaultText: 'none', ...spec }
    : { ...spec, default: spec.default }
}

/** The client ID of this service at a provider of mailboxes. */
function clientId(provider: string, mailboxes: string) {
  return setting({
    description: `Client ID that ${provider} gave you, for signing in to ${mailboxes} (/docs/guide/mail-providers.html).`,
    parse: optional(text),
  })
}

function certificateFiles(provider: string) {
  return setting({
    description: `PEM files with a certificate and its RSA private key, which ${provider} accepts in place of a client secret, comma separated. They are read at the start.`,
    parse: optional(fileTexts),
    secret: true,
  })
}

function clientSecret(provider: string) {
  return setting({
    defaultText: 'none: a public client',
    description: `Client secret that ${provider} gave you.`,
    parse: optional(text),
    secret: true,
  })
}

/** Every setting, in the order in which the documentation lists them. */
export const SETTINGS = {
  HOST: setting({
    default: '127.0.0.1',
    description: 'Address the HTTP server listens on.',
    parse: text,
  }),
  PORT: setting({ default: '8080', description: 'Port the HTTP server listens on.', parse: port }),
  DATA_DIR: setting({
    default: './data',
    description: 'Folder for the embedded database, the secret key and all other files.',
    parse: (value) => resolve(text(value)),
  }),
  DATABASE_URL: setting({
    defaultText: 'the embedded PostgreSQL',
    description:
      'PostgreSQL 15 or later, `postgres://user:password@host/database`. Any number of instances can share it. ' +
      'Several hosts, `one:5432,two:5432`, are a primary and its standbys: the one that accepts writes is used (/docs/guide/scaling.html#database-fail-over).',
    parse: optional(databaseUrl),
    secret: true,
  }),
  DEMO: setting({
    default: 'false',
    description:
      '`true` runs a demo (/docs/guide/install.html#try-the-demo): read-only, with example data whose dates are relative to its start, and without connections to other hosts. Checks of the example domains answer from a recording; changes and captures get 403 with the code `demo`. It needs an empty DATA_DIR or database, by default a folder for temporary files, and deletes its own data at each start.',
    parse: (value) => oneOf(['true', 'false'] as const)(value) === 'true',
  }),
  BACKUP_ARCHIVE: setting({
    description:
      'Where the embedded database is backed up continuously: an existing folder on another disk, or `s3://bucket/prefix` (/docs/guide/backups.html#back-up-continuously). Each installation needs its own.',
    parse: optional(backupArchive),
  }),
  BACKUP_S3_ENDPOINT: setting({
    defaultText: 'that of AWS in the region',
    description: 'URL of a store that is compatible with S3.',
    parse: optional(urlOf('https:', 'http:')),
  }),
  BACKUP_S3_REGION: setting({
    default: 'us-east-1',
    description: 'Region of the bucket.',
    parse: text,
  }),
  BACKUP_S3_ACCESS_KEY_ID: setting({
    description: 'ID of the access key for the bucket.',
    parse: optional(text),
  }),
  BACKUP_S3_SECRET_ACCESS_KEY: setting({
    description: 'Secret of the access key for the bucket.',
    parse: optional(text),
    secret: true,
  }),
  BACKUP_RPO_SECONDS: setting({
    default: '60',
    description:
      'Maximum age of committed data that BACKUP_ARCHIVE does not contain yet, in seconds.',
    parse: integer(5, 86_400),
  }),
  BACKUP_INTERVAL_HOURS: setting({
    default: '24',
    description: 'Time between base backups, in hours.',
    parse: integer(1, 720),
  }),
  BACKUP_KEPT_DAYS: setting({
    default: '14',
    description: 'Every moment of the last days can be restored: how many days.',
    parse: integer(1, 3650),
  }),
  BACKUP_MAX_WAL_BYTES: setting({
    default: '4000000000',
    description:
      'WAL to keep in DATA_DIR while BACKUP_ARCHIVE is unavailable, in bytes. Beyond it, WAL is removed, and a new base backup is made later.',
    parse: integer(500_000_000, Number.MAX_SAFE_INTEGER),
  }),
  BASE_URL: setting({
    defaultText: '`http://localhost:PORT`',
    description:
      'Public URL of the service. It can have a path, such as `https://example.com/portreeve` (/docs/guide/reverse-proxy.html).',
    parse: optional(publicUrl),
  }),
  REPORTS_URL: setting({
    defaultText: 'BASE_URL',
    description: 'URL of the attack-reporting endpoints, if it differs.',
    parse: optional(publicUrl),
  }),
  WEBHOOK_BASE_URL: setting({
    defaultText: 'BASE_URL',
    description: 'URL of the webhook capture endpoints. Use a separate origin.',
    parse: optional(publicUrl),
  }),
  SECRET_KEY: setting({
    defaultText: 'created once in DATA_DIR/secret.key',
    description:
      'Encrypts stored passwords and signs sessions: at least 32 bytes, the same for all instances.',
    parse: optional(secretKey),
    secret: true,
  }),
  SECRET_KEY_PREVIOUS: setting({
    description:
      'The previous SECRET_KEY, during a key rotation. Data encrypted with it stays readable and is encrypted again with SECRET_KEY.',
    parse: optional(secretKey),
    secret: true,
  }),
  TRUSTED_PROXIES: setting({
    description:
      'Networks (CIDR) and host names of reverse proxies, comma separated. The system resolves a name every 2 seconds. Their `X-Forwarded-For`, or without one their `Forwarded` (RFC 7239), names the client. ' +
      'It is read from the right; ports, brackets and quotes are accepted, and a hop that is no address ends the chain. ' +
      'A proxy that writes only `Forwarded` must remove `X-Forwarded-For` from requests.',
    parse: list(proxy),
  }),
  ROLES: setting({
    default: 'web,worker,smtp',
    description: 'Roles of this instance: `web`, `worker`, `smtp`.',
    parse: (value) => {
      const roles = list(oneOf(ROLES))(value)
      if (roles.length === 0) throw new Error('must name at least one role')
      return roles
    },
  }),
  PROCESSES: setting({
    default: '1',
    description:
      'Processes that serve HTTP on this machine: a number, or `auto` for one per core (/docs/guide/scaling.html). More than one needs Linux.',
    parse: processes,
  }),
  DNS_SERVERS: setting({
    defaultText: "the system's",
    description:
      'Resolvers, `ip[:port]`, comma separated. A host name, such as that of a container, is resolved by the system to its IPv4 address.',
    parse: list(dnsServer),
  }),
  DNSBL_SERVERS: setting({
    defaultText: 'DNS_SERVERS',
    description:
      'Resolvers for blocklist queries. Many lists refuse public resolvers: use your own recursive resolver.',
    parse: list(dnsServer),
  }),
  DNSBL_FILE: setting({
    defaultText: 'the shipped catalogue',
    description: 'A blocklist catalogue that replaces the shipped `data/blocklists.json`.',
    parse: optional((value) => resolve(value)),
  }),
  DNSBL_KEYS: setting({
    description:
      'Account keys for lists that need one, `zone=key`, comma separated (`zen.spamhaus.org=abc123`).',
    parse: (value) => new Map(list(keyOfZone)(value)),
    secret: true,
  }),
  ALLOW_PRIVATE_TARGETS: setting({
    default: 'false',
    description:
      'Non-public addresses that checks, migrations and deliveries may connect to: `false`, `true`, or networks (CIDR, comma separated).',
    parse: privateTargets,
  }),
  ALERT_PRIVATE_TARGETS: setting({
    default: 'false',
    description:
      'Non-public addresses that alerts to self-hosted services (ntfy) may connect to, beside those of ALLOW_PRIVATE_TARGETS: `false`, `true`, or networks.',
    parse: privateTargets,
  }),
  SMTP_LISTEN: setting({
    default: '127.0.0.1:2525',
    description: 'Address of the SMTP server for incoming report mail, `address:port`, or `off`.',
    parse: endpointOrOff,
  }),
  REPORT_DOMAIN: setting({
    defaultText: 'the host of BASE_URL',
    description: 'Domain of the addresses that receive DMARC reports.',
    parse: optional((value) => value.toLowerCase()),
  }),
  SMTP_TLS_CERT: setting({
    defaultText: 'none: no STARTTLS',
    description:
      'Certificate chain (PEM) for STARTTLS on SMTP_LISTEN. A renewed file is loaded within a minute.',
    parse: optional((value) => resolve(value)),
  }),
  SMTP_TLS_KEY: setting({
    description: 'Private key of SMTP_TLS_CERT (PEM).',
    parse: optional((value) => resolve(value)),
  }),
  RSPAMD_URL: setting({
    description:
      'An rspamd worker whose opinion mail tests show, such as `http://127.0.0.1:11333`. Turn off its Bayes classifier for it.',
    parse: optional(urlOf('http:', 'https:')),
  }),
  SPAMD_ADDRESS: setting({
    description:
      'A spamd (SpamAssassin) whose opinion mail tests show, `address:port`. Turn off its Bayes classifier for it.',
    parse: optional(spamdAddress),
  }),
  REPORTS_KEPT_MONTHS: setting({
    default: '24',
    description: 'Retention of DMARC and TLS reports and their statistics, in months.',
    parse: integer(1, 600),
  }),
  REPORT_FILES_KEPT_DAYS: setting({
    default: '30',
    description: 'Retention of the original report files and emails, in days.',
    parse: integer(1, 3650),
  }),
  MIN_FREE_DISK_BYTES: setting({
    defaultText: '10% of the disk, up to 2 GB',
    description:
      'Free bytes to keep on the disk of the embedded database. Below this, Portreeve removes the oldest captured webhooks, starting with the accounts that store most.',
    parse: optional(bytes),
  }),
  MAX_DATABASE_BYTES: setting({
    description:
      'Maximum database size in bytes, for a DATABASE_URL on another machine. When less than 10% of it (up to 2 GB) is left, the oldest captured webhooks are removed in the same way.',
    parse: optional(bytes),
  }),
  ASN_DB_PATH: setting({
    defaultText: 'the shipped table, for the attack list only',
    description:
      'File with a table of autonomous systems: lines of iptoasn.com, or an mmdb (GeoLite2 ASN, DB-IP ASN Lite, IPinfo Lite); gzip is supported. `none`: no table.',
    parse: optional((value) => (value === 'none' ? value : resolve(value))),
  }),
  SMTP_URL: setting({
    defaultText: 'none: no email is sent',
    description: 'Relay for outgoing email, `smtp://user:password@host:587` or `smtps://…`.',
    parse: optional(urlOf('smtp:', 'smtps:')),
    secret: true,
  }),
  MAIL_FROM: setting({
    defaultText: '`portreeve@REPORT_DOMAIN`',
    description: 'Sender of outgoing email.',
    parse: optional(text),
  }),
  ABUSE_RETURN_PATH: setting({
    defaultText: 'MAIL_FROM',
    description:
      'Address to which abuse emails return that cannot be delivered, such as `bounces@example.com`. Its server must deliver `bounces+anything@example.com` there, too.',
    parse: optional(returnPath),
  }),
  ABUSE_RETURN_MAILBOX: setting({
    defaultText: 'none: such emails are not noticed',
    description:
      'The mailbox of ABUSE_RETURN_PATH, `imaps://user:password@host` (an @ in the user is `%40`). Its INBOX is read every 5 minutes.',
    parse: optional(imapAddress),
    secret: true,
  }),
  SIGNUP: setting({
    default: 'closed',
    description: 'Whether visitors can create an account: `closed` or `open`.',
    parse: oneOf(['closed', 'open'] as const),
  }),
  WEBHOOK_FORWARDING: setting({
    default: 'admins',
    description:
      'Who can forward captured requests to other servers: `off`, `admins` (administrators) or `all`.',
    parse: oneOf(['off', 'admins', 'all'] as const),
  }),
  FORWARD_PRIVATE_TARGETS: setting({
    default: 'false',
    description:
      'Non-public addresses that captured requests may be forwarded to: `false`, `true`, or networks. Requests of strangers reach them.',
    parse: privateTargets,
  }),
  WEBHOOK_NAMES: setting({
    default: 'admins',
    description:
      'Who can choose a name for the URL of a webhook endpoint: `off`, `admins` (administrators) or `all`. A chosen name can be guessed.',
    parse: oneOf(['off', 'admins', 'all'] as const),
  }),
  PASSWORD_SIGN_IN: setting({
    default: 'on',
    description:
      'Whether people can sign in with a password: `on` or `off`. With `off`, they sign in with OIDC or a passkey, and sign-up and resets with a password are closed.',
    parse: oneOf(['on', 'off'] as const),
  }),
  REQUIRE_2FA: setting({
    default: 'off',
    description:
      'Who must use a second factor or a passkey in the dashboard: `off`, `administrators` or `everyone`. A sign-in with OIDC counts as one.',
    parse: oneOf(['off', 'administrators', 'everyone'] as const),
  }),
  OIDC_ISSUER: setting({
    defaultText: 'none: no single sign-on',
    description:
      'Issuer URL of the OpenID provider, as in its `/.well-known/openid-configuration` (/docs/guide/single-sign-on.html).',
    parse: optional(urlOf('https:', 'http:')),
  }),
  OIDC_CLIENT_ID: setting({
    description: 'Client ID that the OpenID provider gave Portreeve.',
    parse: optional(text),
  }),
  OIDC_CLIENT_SECRET: setting({
    defaultText: 'none: a public client',
    description: 'Client secret that the OpenID provider gave Portreeve.',
    parse: optional(text),
    secret: true,
  }),
  OIDC_NAME: setting({
    default: 'single sign-on',
    description: 'Name of the OpenID provider on the sign-in page: “Continue with NAME”.',
    parse: text,
  }),
  OIDC_SCOPES: setting({
    default: 'openid email profile',
    description: 'Scopes to request, separated by spaces, such as `openid email profile groups`.',
    parse: scopes,
  }),
  OIDC_SIGNUP: setting({
    default: 'off',
    description:
      'Whether people without an account get one at their first sign-in with OIDC: `on` or `off`.',
    parse: oneOf(['on', 'off'] as const),
  }),
  OIDC_TRUST_EMAIL: setting({
    default: 'off',
    description:
      '`on` accepts email addresses that the provider does not call verified. Only for a provider where people cannot choose their address.',
    parse: oneOf(['on', 'off'] as const),
  }),
  OIDC_GROUPS_CLAIM: setting({
    default: 'groups',
    description: 'Claim with the groups of a person, or a path such as `realm_access.roles`.',
    parse: text,
  }),
  OIDC_ALLOWED_GROUPS: setting({
    defaultText: 'everyone',
    description: 'Groups whose members may sign in with OIDC, comma separated.',
    parse: list(text),
  }),
  OIDC_ADMIN_GROUP: setting({
    description:
      'Group whose members are administrators. It is applied at each sign-in with OIDC, also to remove the role.',
    parse: optional(text),
  }),
  OAUTH_GOOGLE_CLIENT_ID: clientId('Google', 'Gmail and Google Workspace'),
  OAUTH_GOOGLE_CLIENT_SECRET: clientSecret('Google'),
  OAUTH_MICROSOFT_CLIENT_ID: clientId('Microsoft', 'Microsoft 365 and Outlook.com'),
  OAUTH_MICROSOFT_CLIENT_SECRET: clientSecret('Microsoft'),
  OAUTH_MICROSOFT_CERTIFICATE_FILES: certificateFiles('Microsoft'),
  OAUTH_MICROSOFT_TENANT: setting({
    default: 'common',
    description:
      'Whose accounts can sign in to Microsoft mailboxes: a tenant ID or domain, `organizations`, `consumers` (Outlook.com) or `common` (both).',
    parse: tenant,
  }),
  OAUTH_YAHOO_CLIENT_ID: clientId('Yahoo', 'Yahoo Mail'),
  OAUTH_YAHOO_CLIENT_SECRET: clientSecret('Yahoo'),
  OAUTH_FASTMAIL_CLIENT_ID: clientId('Fastmail', 'Fastmail'),
  OAUTH_FASTMAIL_CLIENT_SECRET: clientSecret('Fastmail'),
  OAUTH_OTHER_CLIENT_ID: clientId('another provider', 'mailboxes of OAUTH_OTHER_HOSTS'),
  OAUTH_OTHER_CLIENT_SECRET: clientSecret('another provider'),
  OAUTH_OTHER_CERTIFICATE_FILES: certificateFiles('another provider'),
  OAUTH_OTHER_NAME: setting({
    default: 'another provider',
    description: 'Name of the other provider on its button: “Sign in with NAME”.',
    parse: text,
  }),
  OAUTH_OTHER_HOSTS: setting({
    description:
      'IMAP servers of the other provider, comma separated. Its tokens are sent to no other server.',
    parse: list((value) => text(value).toLowerCase()),
  }),
  OAUTH_OTHER_SCOPE: setting({
    description:
      'Scopes of the other provider that allow IMAP, separated by spaces. Most need `offline_access` too; `openid email` shows whose mailbox it is.',
    parse: optional(text),
  }),
  OAUTH_OTHER_ISSUER: setting({
    description:
      'Issuer URL of the other provider, as in its `/.well-known/openid-configuration`, where its endpoints are found.',
    parse: optional(urlOf('https:', 'http:')),
  }),
  OAUTH_OTHER_AUTHORIZATION_URL: setting({
    defaultText: 'found by OAUTH_OTHER_ISSUER',
    description: 'Authorization endpoint of a provider without such a document.',
    parse: optional(urlOf('https:', 'http:')),
  }),
  OAUTH_OTHER_TOKEN_URL: setting({
    defaultText: 'found by OAUTH_OTHER_ISSUER',
    description: 'Token endpoint of a provider without such a document.',
    parse: optional(urlOf('https:', 'http:')),
  }),
  OAUTH_OTHER_DEVICE_URL: setting({
    defaultText: 'found by OAUTH_OTHER_ISSUER',
    description: 'Device authorization endpoint of such a provider, for the command line.',
    parse: optional(urlOf('https:', 'http:')),
  }),
  DEFAULT_PLAN: setting({
    default: 'free',
    description: `Plan of a new account: ${PLANS.join(', ')}.`,
    parse: oneOf(PLANS),
  }),
  REQUEST_LIMITS: setting({
    default: 'on',
    description:
      'Limits on expensive requests per account or address (/docs/guide/limits.html): `on` or `off`. Turn them off only if another service limits requests.',
    parse: oneOf(['on', 'off'] as const),
  }),
  MIGRATION_CONCURRENCY: setting({
    default: '4',
    description: 'Concurrent migrations, over all instances.',
    parse: integer(1, 4),
  }),
  LOG_LEVEL: setting({
    default: 'info',
    description: `Log level: ${LOG_LEVELS.join(', ')}.`,
    parse: oneOf(LOG_LEVELS),
  }),
  LOG_FORMAT: setting({
    default: 'auto',
    description:
      'Log format: `json`, one object per line; `text`, sentences for people, without requests unless LOG_LEVEL is `debug` or `trace`; `auto`, text at a terminal and JSON elsewhere.',
    parse: oneOf(LOG_FORMATS),
  }),
  METRICS_LISTEN: setting({
    default: 'off',
    description: 'Address of the metrics server for Prometheus, `address:port`, or `off`.',
    parse: endpointOrOff,
  }),
  SECURITY_CONTACT: setting({
    defaultText: 'none: no security.txt',
    description:
      'Contacts for vulnerabilities in this installation: email addresses or https URLs, comma separated, published in ' +
      '`/.well-known/security.txt` (RFC 9116).',
    parse: list(contact),
  }),
} as const

type SettingName = keyof typeof SETTINGS
type Parsed = { [K in SettingName]: ReturnType<(typeof SETTINGS)[K]['parse']> }

export type Config = Omit<
  Parsed,
  'BASE_URL' | 'REPORTS_URL' | 'WEBHOOK_BASE_URL' | 'REPORT_DOMAIN' | 'MAIL_FROM' | 'BACKUP_ARCHIVE'
> & {
  BACKUP_ARCHIVE: BackupArchive | undefined
  BASE_URL: string
  REPORTS_URL: string
  WEBHOOK_BASE_URL: string
  REPORT_DOMAIN: string
  MAIL_FROM: string
}

/**
 * Reads and checks all settings at once.
 * @param env variables by name; by default those of the installation (`findInstallation`)
 * @throws Fault `invalid_request` that names every invalid setting, never the value of a secret
 */
export function readConfig(env: Record<string, string | undefined> = environment()): Config {
  const details: FaultDetail[] = []
  const parsed: Record<string, unknown> = {}
  for (const [name, spec] of Object.entries(SETTINGS)) {
    const given = env[name]?.trim()
    const file = env[`${name}_FILE`]?.trim()
    try {
      if (given && file) throw new Error(`must not be set together with ${name}`)
      parsed[name] = spec.parse((file ? readValueFile(file) : given) || spec.default)
    } catch (error) {
      details.push({ path: file ? `${name}_FILE` : name, message: messageOf(error) })
    }
  }
  if (details.length === 0) details.push(...conflicts(parsed as Parsed))
  if (details.length > 0) {
    const sentence = details.map((d) => `${d.path} ${d.message}`).join('; ')
    const { file } = currentInstallation()
    const suggestion = `correct them in ${file ?? 'the environment or .env'} (${join(ROOT, 'docs', 'configuration.md')})`
    throw new Fault('invalid_request', `Invalid settings: ${sentence}.`, { details, suggestion })
  }
  return withComputedDefaults(parsed as Parsed)
}

/**
 * Reads the value of a setting from the file that `NAME_FILE` names, as secrets of Docker, Kubernetes
 * and systemd are given. Spaces and line breaks around it are removed, as they are from a variable.
 * @throws Error whose message completes “NAME_FILE …”
 */
function readValueFile(file: string): string {
  const value = readText(file).trim()
  if (value === '') throw new Error('names an empty file')
  return value
}

/** Settings that are not valid together, each of which is valid alone. */
function conflicts(settings: Parsed): FaultDetail[] {
  const { OIDC_ISSUER, OIDC_CLIENT_ID } = settings
  const details = [...conflictsOfOtherProvider(settings), ...conflictsOfBackups(settings)]
  for (const name of ['MICROSOFT', 'OTHER'] as const)
    if (settings[`OAUTH_${name}_CERTIFICATE_FILES`] && settings[`OAUTH_${name}_CLIENT_SECRET`])
      details.push({
        path: `OAUTH_${name}_CERTIFICATE_FILES`,
        message: `must not be set together with OAUTH_${name}_CLIENT_SECRET`,
      })
  const pathOf = (name: 'BASE_URL' | 'REPORTS_URL' | 'WEBHOOK_BASE_URL') =>
    settings[name] === undefined ? '' : basePathOf(settings[name])
  for (const name of ['REPORTS_URL', 'WEBHOOK_BASE_URL'] as const)
    if (!['', pathOf('BASE_URL')].includes(pathOf(name)))
      details.push({ path: name, message: 'must have the path of BASE_URL, or none' })
  const { ABUSE_RETURN_PATH, ABUSE_RETURN_MAILBOX } = settings
  if ((ABUSE_RETURN_PATH === undefined) !== (ABUSE_RETURN_MAILBOX === undefined))
    details.push({
      path: 'ABUSE_RETURN_MAILBOX',
      message: 'and ABUSE_RETURN_PATH are required together',
    })
  if (settings.PROCESSES > 1 && !settings.ROLES?.includes('web'))
    details.push({ path: 'PROCESSES', message: 'must be 1 without the role web' })
  if (OIDC_ISSUER !== undefined && OIDC_CLIENT_ID === undefined)
    details.push({ path: 'OIDC_CLIENT_ID', message: 'is required with OIDC_ISSUER' })
  if (settings.OIDC_TRUST_EMAIL === 'on' && hasManyTenants(OIDC_ISSUER))
    details.push({
      path: 'OIDC_ISSUER',
      message:
        'must name one tenant with OIDC_TRUST_EMAIL=on: in other tenants, anyone may have any address',
    })
  return details
}

/** Whether an issuer is that of all tenants of Microsoft Entra ID, or of all personal accounts. */
function hasManyTenants(issuer: string | undefined): boolean {
  return /^https:\/\/login\.microsoftonline\.[a-z]+\/(common|organizations|consumers)(\/|$)/i.test(
    issuer ?? '',
  )
}

function conflictsOfBackups(settings: Parsed): FaultDetail[] {
  const { BACKUP_ARCHIVE, DATABASE_URL, DATA_DIR } = settings
  if (!BACKUP_ARCHIVE) return []
  const path = 'BACKUP_ARCHIVE'
  if (DATABASE_URL !== undefined) {
    const message =
      'supports only the embedded database: back up the one at DATABASE_URL with pgBackRest, WAL-G or Barman'
    return [{ path, message }]
  }
  if (BACKUP_ARCHIVE.kind === 's3')
    return (['BACKUP_S3_ACCESS_KEY_ID', 'BACKUP_S3_SECRET_ACCESS_KEY'] as const)
      .filter((name) => settings[name] === undefined)
      .map((name) => ({ path: name, message: 'is required with BACKUP_ARCHIVE=s3://…' }))
  if (!`${BACKUP_ARCHIVE.path}${sep}`.startsWith(`${DATA_DIR}${sep}`)) return []
  return [{ path, message: 'must be outside DATA_DIR, on another disk if possible' }]
}

/** What the other provider of mailboxes needs besides its client ID. */
function conflictsOfOtherProvider(settings: Parsed): FaultDetail[] {
  if (settings.OAUTH_OTHER_CLIENT_ID === undefined) return []
  const { OAUTH_OTHER_ISSUER: issuer, OAUTH_OTHER_SCOPE: scope = '' } = settings
  const { OAUTH_OTHER_AUTHORIZATION_URL: authorization, OAUTH_OTHER_TOKEN_URL: token } = settings
  const details: FaultDetail[] = []
  if (scope === '')
    details.push({ path: 'OAUTH_OTHER_SCOPE', message: 'is required with OAUTH_OTHER_CLIENT_ID' })
  if (settings.OAUTH_OTHER_HOSTS.length === 0)
    details.push({ path: 'OAUTH_OTHER_HOSTS', message: 'is required with OAUTH_OTHER_CLIENT_ID' })
  if ((authorization === undefined) !== (token === undefined))
    details.push({
      path: 'OAUTH_OTHER_TOKEN_URL',
      message: 'and OAUTH_OTHER_AUTHORIZATION_URL are required together',
    })
  const needsIssuer = authorization === undefined || scope.split(' ').includes('openid')
  if (issuer === undefined && needsIssuer)
    details.push({
      path: 'OAUTH_OTHER_ISSUER',
      message: 'is required without OAUTH_OTHER_TOKEN_URL, and with the scope openid',
    })
  return details
}

/** Secrets of one command at a terminal; the service has no such settings. */
export function readCommandSecret(
  name:
    | `PORTREEVE_${'SOURCE' | 'DESTINATION'}_${'PASSWORD' | 'TOKEN'}`
    | `IMAPSYNC_PASSWORD${1 | 2}`
    | 'PORTREEVE_TOKEN',
): string | undefined {
  const variables = environment()
  // The name of PORTREEVE_TOKEN until 0.2.0.
  const earlier = name === 'PORTREEVE_TOKEN' ? variables['PORTREEVE_API_TOKEN'] : undefined
  return variables[name] || earlier || undefined
}

/** The URL of the service whose API a command uses, unless a flag names it. */
export function readServiceUrl(): string {
  return environment()['PORTREEVE_URL'] || readConfig().BASE_URL
}

/** Completes paths of the guide in a text, such as `/docs/guide/scaling.html`, to URLs of this service. */
export function withGuideUrls(message: string): string {
  return message.replaceAll(/(?<![\w/])\/docs\/guide\//g, () => `${likelyBaseUrl()}/docs/guide/`)
}

/** BASE_URL, also while other settings or their file are not valid: an error may be about these. */
function likelyBaseUrl(): string {
  const { BASE_URL, PORT } = environmentOrNone()
  const url = BASE_URL?.trim() || `http://localhost:${PORT?.trim() || SETTINGS.PORT.default}`
  return url.replace(/\/$/, '')
}

function environmentOrNone(): Record<string, string | undefined> {
  try {
    return environment()
  } catch {
    return {}
  }
}

/** Whether PORTREEVE_CONFIRM_DELETION allows the deletions of `portreeve imapsync`. */
export function isDeletionConfirmed(): boolean {
  return ['yes', 'true', '1'].includes(environment()['PORTREEVE_CONFIRM_DELETION'] ?? '')
}

function withComputedDefaults(p: Parsed): Config {
  const baseUrl = p.BASE_URL ?? `http://localhost:${p.PORT}`
  const reportDomain = p.REPORT_DOMAIN ?? new URL(baseUrl).hostname
  return {
    ...p,
    BACKUP_ARCHIVE: archiveOf(p),
    BASE_URL: baseUrl,
    REPORTS_URL: p.REPORTS_URL ?? baseUrl,
    WEBHOOK_BASE_URL: p.WEBHOOK_BASE_URL ?? baseUrl,
    REPORT_DOMAIN: reportDomain,
    MAIL_FROM: p.MAIL_FROM ?? `portreeve@${reportDomain}`,
    DNSBL_SERVERS: p.DNSBL_SERVERS.length > 0 ? p.DNSBL_SERVERS : p.DNS_SERVERS,
  }
}

/** The installation that this process belongs to. */
export function currentInstallation(): Installation {
  return findInstallation(process.env, process.cwd())
}

const environment = () => currentInstallation().variables

/**
 * Requires that the settings of this machine’s installation can be read, for commands on its data.
 * @throws Fault `forbidden` for a user who may not
 */
export function requireSettings(): void {
  const { unreadable } = currentInstallation()
  if (unreadable === null) return
  const suggestion = 'sudo portreeve …, or set DATA_DIR or DATABASE_URL for another installation'
  const sentence = `This user may not read the settings of the installation, ${unreadable}.`
  throw new Fault('forbidden', sentence, { suggestion })
}

function archiveOf(p: Parsed): BackupArchive | undefined {
  if (p.BACKUP_ARCHIVE?.kind !== 's3') return p.BACKUP_ARCHIVE
  return {
    ...p.BACKUP_ARCHIVE,
    endpoint: p.BACKUP_S3_ENDPOINT ?? `https://s3.${p.BACKUP_S3_REGION}.amazonaws.com`,
    region: p.BACKUP_S3_REGION,
    accessKeyId: p.BACKUP_S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: p.BACKUP_S3_SECRET_ACCESS_KEY ?? '',
  }
}
