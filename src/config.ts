import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import ipaddr from 'ipaddr.js'
import { Fault, messageOf, type FaultDetail } from './errors.ts'

/** An address and a port to listen on or to ask. IPv6 addresses without brackets. */
export type Endpoint = { address: string; port: number }

/** `false`: public addresses only. `true`: any. A list: public addresses and these networks. */
export type PrivateTargets = boolean | Cidr[]
export type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number]

export const ROLES = ['web', 'worker', 'smtp'] as const
export type Role = (typeof ROLES)[number]

export const PLANS = ['free', 'starter', 'pro', 'business', 'enterprise'] as const
export type Plan = (typeof PLANS)[number]

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

type Setting<T> = {
  /** What the documentation shows as the default; also what is parsed when the variable is not set. */
  default: string
  /** The default as words, where the value is computed from other settings. */
  defaultText?: string
  description: string
  /** Throws an Error whose message completes "NAME …". */
  parse: (text: string) => T
  /** Its value never appears in a log or an error. */
  secret?: true
}

function setting<T>(spec: Setting<T>): Setting<T> {
  return spec
}

/** Every setting, in the order in which the documentation lists them. */
export const SETTINGS = {
  HOST: setting({ default: '127.0.0.1', description: 'Address the HTTP server listens on.', parse: text }),
  PORT: setting({ default: '8080', description: 'Port the HTTP server listens on.', parse: port }),
  DATA_DIR: setting({
    default: './data',
    description: 'Folder for the embedded database, the secret key and everything else kept on disk.',
    parse: (value) => resolve(text(value)),
  }),
  DATABASE_URL: setting({
    default: '',
    defaultText: 'the embedded PostgreSQL',
    description:
      'A PostgreSQL 15 or later, `postgres://user:password@host/database`, which any number of instances may share.',
    parse: optional(urlOf('postgres:', 'postgresql:')),
    secret: true,
  }),
  BASE_URL: setting({
    default: '',
    defaultText: '`http://localhost:PORT`',
    description: 'Address under which people reach the service.',
    parse: optional(origin),
  }),
  REPORTS_URL: setting({
    default: '',
    defaultText: 'BASE_URL',
    description: 'Address of the attack-reporting endpoints, where it differs.',
    parse: optional(origin),
  }),
  WEBHOOK_BASE_URL: setting({
    default: '',
    defaultText: 'BASE_URL',
    description: 'Address of the webhook capture URLs. An origin of its own is advised.',
    parse: optional(origin),
  }),
  SECRET_KEY: setting({
    default: '',
    defaultText: 'made once into DATA_DIR/secret.key',
    description: 'At least 32 bytes that seal passwords at rest and sign sessions. All instances need the same.',
    parse: optional(secretKey),
    secret: true,
  }),
  SECRET_KEY_PREVIOUS: setting({
    default: '',
    defaultText: 'none',
    description:
      'The key before SECRET_KEY, while one takes the place of the other: what it sealed still opens, and is sealed anew.',
    parse: optional(secretKey),
    secret: true,
  }),
  TRUSTED_PROXIES: setting({
    default: '',
    defaultText: 'none',
    description:
      'Networks (CIDR, comma separated) of reverse proxies. Their `X-Forwarded-For`, or without one their `Forwarded` (RFC 7239), names the client. ' +
      'It is read from the right; ports, brackets and quotes are accepted, and a hop that is no address ends the chain. ' +
      'A proxy that writes only `Forwarded` must remove `X-Forwarded-For` from requests.',
    parse: list(cidr),
  }),
  ROLES: setting({
    default: 'web,worker,smtp',
    description: 'What this instance does: `web`, `worker`, `smtp`.',
    parse: (value) => {
      const roles = list(oneOf(ROLES))(value)
      if (roles.length === 0) throw new Error('must name at least one role')
      return roles
    },
  }),
  DNS_SERVERS: setting({
    default: '',
    defaultText: "the system's",
    description: 'Resolvers, `ip[:port]`, comma separated.',
    parse: list(dnsServer),
  }),
  DNSBL_SERVERS: setting({
    default: '',
    defaultText: 'DNS_SERVERS',
    description:
      'Resolvers for blacklist queries. Many lists refuse public resolvers: use a recursive resolver of your own.',
    parse: list(dnsServer),
  }),
  DNSBL_FILE: setting({
    default: '',
    defaultText: 'the shipped catalogue',
    description: 'A catalogue of blacklists in place of the shipped `data/blocklists.json`.',
    parse: optional((value) => resolve(value)),
  }),
  DNSBL_KEYS: setting({
    default: '',
    defaultText: 'none',
    description: 'Account keys for lists that need one, `zone=key`, comma separated (`zen.spamhaus.org=abc123`).',
    parse: (value) => new Map(list(keyOfZone)(value)),
    secret: true,
  }),
  ALLOW_PRIVATE_TARGETS: setting({
    default: 'false',
    description:
      'Which non-public addresses checks, migrations and deliveries may connect to: `false`, `true`, or networks (CIDR, comma separated).',
    parse: privateTargets,
  }),
  SMTP_LISTEN: setting({
    default: '127.0.0.1:2525',
    description: 'Where incoming report mail is taken, `address:port`, or `off`.',
    parse: endpointOrOff,
  }),
  REPORT_DOMAIN: setting({
    default: '',
    defaultText: 'the host of BASE_URL',
    description: 'Domain of the addresses that receive DMARC reports.',
    parse: optional((value) => value.toLowerCase()),
  }),
  SMTP_TLS_CERT: setting({
    default: '',
    defaultText: 'none: no STARTTLS',
    description: 'Certificate chain (PEM) for STARTTLS on SMTP_LISTEN. A renewed file is taken within a minute.',
    parse: optional((value) => resolve(value)),
  }),
  SMTP_TLS_KEY: setting({
    default: '',
    defaultText: 'none',
    description: 'The key of SMTP_TLS_CERT (PEM).',
    parse: optional((value) => resolve(value)),
  }),
  REPORTS_KEPT_MONTHS: setting({
    default: '24',
    description: 'Months for which DMARC and TLS reports, and the statistics of them, are kept.',
    parse: integer(1, 600),
  }),
  REPORT_FILES_KEPT_DAYS: setting({
    default: '30',
    description: 'Days for which the files and mails that brought reports are kept as they came.',
    parse: integer(1, 3650),
  }),
  MIN_FREE_DISK_BYTES: setting({
    default: '',
    defaultText: '10% of the disk, at most 2 GB',
    description:
      'Bytes that stay free on the disk of the embedded database. Below it, the oldest captured webhooks are removed, those of the accounts that store most first.',
    parse: optional(bytes),
  }),
  MAX_DATABASE_BYTES: setting({
    default: '',
    defaultText: 'none',
    description:
      'Bytes that the database may take, for a DATABASE_URL whose disk cannot be seen from here. Less than 10% (at most 2 GB) below it, the oldest captured webhooks are removed in the same way.',
    parse: optional(bytes),
  }),
  ASN_DB_PATH: setting({
    default: '',
    defaultText: 'the shipped table, for the attack list alone',
    description:
      'A table of autonomous systems on disk: lines of iptoasn.com, or an mmdb (GeoLite2 ASN, DB-IP ASN Lite, IPinfo Lite); gzip is taken too. `none`: no table at all.',
    parse: optional((value) => (value === 'none' ? value : resolve(value))),
  }),
  SMTP_URL: setting({
    default: '',
    defaultText: 'none: nothing is mailed',
    description: 'Relay for outgoing mail, `smtp://user:password@host:587` or `smtps://…`.',
    parse: optional(urlOf('smtp:', 'smtps:')),
    secret: true,
  }),
  MAIL_FROM: setting({
    default: '',
    defaultText: '`portreeve@REPORT_DOMAIN`',
    description: 'Sender of outgoing mail.',
    parse: optional(text),
  }),
  SIGNUP: setting({
    default: 'closed',
    description: 'Whether people may make their own account: `closed` or `open`.',
    parse: oneOf(['closed', 'open'] as const),
  }),
  DEFAULT_PLAN: setting({
    default: 'free',
    description: `Plan of a new account: ${PLANS.join(', ')}.`,
    parse: oneOf(PLANS),
  }),
  REQUEST_LIMITS: setting({
    default: 'on',
    description:
      'Limits on expensive requests of one account or address (docs/api.md): `on` or `off`. Turn them off only where another service limits requests.',
    parse: oneOf(['on', 'off'] as const),
  }),
  MIGRATION_CONCURRENCY: setting({
    default: '4',
    description: 'Migrations that run at once, over all instances.',
    parse: integer(1, 4),
  }),
  LOG_LEVEL: setting({
    default: 'info',
    description: `How much is logged: ${LOG_LEVELS.join(', ')}.`,
    parse: oneOf(LOG_LEVELS),
  }),
  METRICS_LISTEN: setting({
    default: 'off',
    description: 'Where Prometheus metrics are served, `address:port`, or `off`.',
    parse: endpointOrOff,
  }),
  SECURITY_CONTACT: setting({
    default: '',
    defaultText: 'none: no security.txt',
    description:
      'Who to contact about a vulnerability in this installation: e-mail addresses or https URLs, comma separated, shown in ' +
      '`/.well-known/security.txt` (RFC 9116).',
    parse: list(contact),
  }),
} as const

export type SettingName = keyof typeof SETTINGS
type Parsed = { [K in SettingName]: ReturnType<(typeof SETTINGS)[K]['parse']> }

export type Config = Omit<Parsed, 'BASE_URL' | 'REPORTS_URL' | 'WEBHOOK_BASE_URL' | 'REPORT_DOMAIN' | 'MAIL_FROM'> & {
  BASE_URL: string
  REPORTS_URL: string
  WEBHOOK_BASE_URL: string
  REPORT_DOMAIN: string
  MAIL_FROM: string
}

/**
 * Reads and checks all settings at once.
 * @param env variables by name; by default `.env` of the working folder under the process environment
 * @throws Fault `invalid_request` that names every setting that is wrong, never a secret's value
 */
export function readConfig(env: Record<string, string | undefined> = environment()): Config {
  const details: FaultDetail[] = []
  const parsed: Record<string, unknown> = {}
  for (const [name, spec] of Object.entries(SETTINGS)) {
    try {
      parsed[name] = spec.parse(env[name]?.trim() || spec.default)
    } catch (error) {
      details.push({ path: name, message: messageOf(error) })
    }
  }
  if (details.length > 0) {
    const sentence = details.map((d) => `${d.path} ${d.message}`).join('; ')
    throw new Fault('invalid_request', `The settings are not usable: ${sentence}.`, { details })
  }
  return withComputedDefaults(parsed as Parsed)
}

/** Secrets of one command at a terminal; the service has no such settings. */
export function readCommandSecret(
  name: `PORTREEVE_${'SOURCE' | 'DESTINATION'}_${'PASSWORD' | 'TOKEN'}` | 'PORTREEVE_API_TOKEN',
): string | undefined {
  return environment()[name] || undefined
}

function withComputedDefaults(p: Parsed): Config {
  const baseUrl = p.BASE_URL ?? `http://localhost:${p.PORT}`
  const reportDomain = p.REPORT_DOMAIN ?? new URL(baseUrl).hostname
  return {
    ...p,
    BASE_URL: baseUrl,
    REPORTS_URL: p.REPORTS_URL ?? baseUrl,
    WEBHOOK_BASE_URL: p.WEBHOOK_BASE_URL ?? baseUrl,
    REPORT_DOMAIN: reportDomain,
    MAIL_FROM: p.MAIL_FROM ?? `portreeve@${reportDomain}`,
    DNSBL_SERVERS: p.DNSBL_SERVERS.length > 0 ? p.DNSBL_SERVERS : p.DNS_SERVERS,
  }
}

function environment(): Record<string, string | undefined> {
  const fromFile = existsSync('.env') ? parseEnv(readFileSync('.env', 'utf8')) : {}
  return { ...fromFile, ...process.env }
}

function text(value: string): string {
  if (value === '') throw new Error('must not be empty')
  return value
}

function optional<T>(parse: (value: string) => T): (value: string) => T | undefined {
  return (value) => (value === '' ? undefined : parse(value))
}

function list<T>(parse: (value: string) => T): (value: string) => T[] {
  return (value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map(parse)
}

function oneOf<const T extends readonly string[]>(values: T): (value: string) => T[number] {
  return (value) => {
    if (!values.includes(value)) throw new Error(`must be one of ${values.join(', ')}`)
    return value
  }
}

function integer(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < min || number > max) {
      throw new Error(`must be a whole number from ${min} to ${max}`)
    }
    return number
  }
}

function bytes(value: string): number {
  return integer(1, Number.MAX_SAFE_INTEGER)(value)
}

function port(value: string): number {
  return integer(0, 65535)(value)
}

function urlOf(...protocols: string[]): (value: string) => string {
  return (value) => {
    const url = URL.canParse(value) ? new URL(value) : null
    if (!url || !protocols.includes(url.protocol)) {
      throw new Error(`must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`)
    }
    return value
  }
}

function origin(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.pathname !== '/' || url.search || url.hash) {
    throw new Error('must be an address such as https://portreeve.example, without a path')
  }
  return url.origin
}

function secretKey(value: string): string {
  if (Buffer.byteLength(value) < 32) throw new Error('must have at least 32 bytes')
  return value
}

function cidr(value: string): Cidr {
  try {
    if (!value.includes('/')) {
      const address = ipaddr.parse(value)
      return [address, address.kind() === 'ipv4' ? 32 : 128]
    }
    return ipaddr.parseCIDR(value)
  } catch {
    throw new Error(`has “${value}”, which is not a network such as 10.0.0.0/8`)
  }
}

function privateTargets(value: string): PrivateTargets {
  if (value === 'true' || value === 'false') return value === 'true'
  return list(cidr)(value)
}

/** `192.0.2.1`, `192.0.2.1:5353`, `::1`, `[::1]:5353`. */
function endpoint(value: string, defaultPort?: number): Endpoint {
  if (isIP(value) && defaultPort !== undefined) return { address: value, port: defaultPort }
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(value)
  const address = match?.[1] ?? match?.[2] ?? ''
  const portText = match?.[3] ?? (defaultPort === undefined ? '' : String(defaultPort))
  if (!isIP(address) || portText === '') {
    const shape = defaultPort === undefined ? 'address:port' : 'ip or ip:port'
    throw new Error(`has “${value}”, which is not of the form ${shape}`)
  }
  // Port 0 means “any free one” to a listener, and nothing to somebody who wants to be asked there.
  return { address, port: defaultPort === undefined ? port(portText) : integer(1, 65535)(portText) }
}

function dnsServer(value: string): Endpoint {
  return endpoint(value, 53)
}

function endpointOrOff(value: string): Endpoint | null {
  return value === 'off' ? null : endpoint(value)
}

/** A contact as RFC 9116, section 2.5.3, wants it: a URI. A bare e-mail address gets its scheme. */
function contact(value: string): string {
  const uri = /^[^\s:@/]+@[^\s@]+$/.test(value) ? `mailto:${value}` : value
  const isContact = URL.canParse(uri) && /^(?:mailto|https|tel):\S+$/.test(uri)
  if (!isContact) throw new Error(`has “${value}”, which is neither an e-mail address nor an https URL`)
  return uri
}

function keyOfZone(value: string): [string, string] {
  const match = /^([a-z0-9.-]+)=([A-Za-z0-9_-]+)$/.exec(value)
  // The value may hold the key, so the message must not quote it.
  if (!match) throw new Error('must be a list of zone=key')
  return [match[1] as string, match[2] as string]
}
