import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { availableParallelism } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { parseDatabaseUrl } from './database-url.ts'
import { messageOf } from './errors.ts'
import { parseUrl } from './parse-url.ts'

// Values of settings: their types, and how they are parsed. An Error’s message completes “NAME …”.

/**
 * An address and a port to listen on or to connect to. IPv6 addresses without brackets. That of a
 * resolver can be a host name.
 */
export type HostPort = { address: string; port: number }

/** `false`: public addresses only. `true`: any. A list: public addresses and these networks. */
export type PrivateTargets = boolean | Cidr[]
export type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number]

export function text(value: string): string {
  if (value === '') throw new Error('must not be empty')
  return value
}

export function optional<T>(parse: (value: string) => T): (value: string) => T | undefined {
  return (value) => (value === '' ? undefined : parse(value))
}

export function list<T>(parse: (value: string) => T): (value: string) => T[] {
  return (value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map(parse)
}

/** Reads files, comma separated, and joins their texts. */
export function fileTexts(value: string): string {
  return list(readText)(value).join('\n')
}

/** The text of a file. @throws Error whose message completes “NAME …” */
export function readText(path: string): string {
  try {
    return readFileSync(resolve(path), 'utf8')
  } catch (error) {
    throw new Error(`names a file that cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

/** More are limited by PostgreSQL. */
const MAX_PROCESSES = 32

export function processes(value: string): number {
  const isLinux = process.platform === 'linux'
  if (value === 'auto') return isLinux ? Math.min(availableParallelism(), MAX_PROCESSES) : 1
  if (!/^\d+$/.test(value) || Number(value) < 1 || Number(value) > MAX_PROCESSES)
    throw new Error(`must be auto or a whole number from 1 to ${MAX_PROCESSES}`)
  const count = Number(value)
  if (count > 1 && !isLinux) throw new Error('must be 1 on this system: only Linux shares a port')
  return count
}

type BackupLocation =
  | { kind: 'folder'; path: string }
  | { kind: 's3'; bucket: string; prefix: string }

/** An archive of backups, with all that is needed to reach it. */
export type BackupArchive =
  | { kind: 'folder'; path: string }
  | {
      kind: 's3'
      bucket: string
      /** Without a slash at its end; empty for the whole bucket. */
      prefix: string
      endpoint: string
      region: string
      accessKeyId: string
      secretAccessKey: string
    }

export function backupArchive(value: string): BackupLocation {
  const [, bucket, prefix = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(value) ?? []
  if (bucket) {
    const path = prefix.replace(/\/+$/, '')
    if (!/^[A-Za-z0-9._/-]*$/.test(path) || path.split('/').includes('..'))
      throw new Error(
        'has a prefix with characters other than letters, digits, “.”, “_”, “-” and “/”',
      )
    return { kind: 's3', bucket, prefix: path }
  }
  if (value.includes('://') || !isAbsolute(value))
    throw new Error('must be an absolute path or s3://bucket/prefix')
  return { kind: 'folder', path: resolve(value) }
}

export function oneOf<const T extends readonly string[]>(values: T): (value: string) => T[number] {
  return (value) => {
    if (!values.includes(value)) throw new Error(`must be one of ${values.join(', ')}`)
    return value
  }
}

export function tenant(value: string): string {
  if (!/^[A-Za-z0-9.-]+$/.test(value)) throw new Error('must be a tenant ID or a domain')
  return value
}

export function scopes(value: string): string {
  if (!value.split(' ').includes('openid')) throw new Error('must include openid')
  return value
}

export function integer(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (!/^\d+$/.test(value) || number < min || number > max) {
      throw new Error(`must be a whole number from ${min} to ${max}`)
    }
    return number
  }
}

export function bytes(value: string): number {
  return integer(1, Number.MAX_SAFE_INTEGER)(value)
}

export function port(value: string): number {
  return integer(0, 65535)(value)
}

export function urlOf(...protocols: string[]): (value: string) => string {
  return (value) => {
    const { problem } = parseUrl(value, protocols)
    if (problem !== null) throw new Error(problem)
    return value
  }
}

export function databaseUrl(value: string): string {
  parseDatabaseUrl(value)
  return value
}

/** A public URL of the service, without a slash at its end. Its path stands in shell scripts, too. */
export function publicUrl(value: string): string {
  const url = URL.canParse(value) ? new URL(value) : null
  const path = url?.pathname.replace(/\/$/, '') ?? ''
  if (
    !url ||
    !['http:', 'https:'].includes(url.protocol) ||
    !/^(\/[\w.-]+)*$/.test(path) ||
    url.search ||
    url.hash
  ) {
    throw new Error(
      'must be an address such as https://portreeve.example or https://example.com/portreeve',
    )
  }
  return url.origin + path
}

/** The path of a public URL, such as `/portreeve`; empty at the root of an origin. */
export function basePathOf(url: string): string {
  return new URL(url).pathname.replace(/\/$/, '')
}

export function secretKey(value: string): string {
  if (Buffer.byteLength(value) < 32) throw new Error('must have at least 32 bytes')
  return value
}

/** A name of the network of containers, or of DNS; never an address with a mistake. */
const HOST_NAME = /^(?:[\w-]{1,63}\.)*[a-z_][\w-]{0,62}$/i

/** A network, or the name of a proxy, which `followNames` resolves. */
export function proxy(value: string): Cidr | string {
  return HOST_NAME.test(value) ? value : cidr(value)
}

/**
 * A network, or one address. The library alone would read `010.0.0.0/8` as 8.0.0.0/8 and `10/8` as
 * 0.0.0.10/8 (RFC 6943, 3.1.1). Mapped addresses are those of IPv4, with which they are compared.
 */
export function cidr(value: string): Cidr {
  const [address = '', length, ...more] = value.split('/')
  const family = isIP(address)
  const most = family === 4 ? 32 : 128
  const bits = length === undefined ? most : Number(length)
  const isLength = length === undefined || (/^\d{1,3}$/.test(length) && bits <= most)
  if (family === 0 || address.includes('%') || !isLength || more.length > 0)
    throw new Error(`has “${value}”, which is not a network such as 10.0.0.0/8`)
  const network = ipaddr.parse(address)
  return network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && bits >= MAPPED_BITS
    ? [network.toIPv4Address(), bits - MAPPED_BITS]
    : [network, bits]
}

/** Bits in front of the IPv4 address in a mapped one (RFC 4291, 2.5.5.2). */
const MAPPED_BITS = 96

export function privateTargets(value: string): PrivateTargets {
  if (value === 'true' || value === 'false') return value === 'true'
  return list(cidr)(value)
}

/** `192.0.2.1`, `192.0.2.1:5353`, `::1`, `[::1]:5353`; with a default port also `unbound:5353`. */
function endpoint(value: string, defaultPort?: number): HostPort {
  if (isIP(value) && defaultPort !== undefined) return { address: value, port: defaultPort }
  const match = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(value)
  const address = match?.[1] ?? match?.[2] ?? ''
  const portText = match?.[3] ?? (defaultPort === undefined ? '' : String(defaultPort))
  const isNamed = defaultPort !== undefined && HOST_NAME.test(address)
  if ((!isIP(address) && !isNamed) || portText === '') {
    const shape = defaultPort === undefined ? 'address:port' : 'ip, ip:port or host:port'
    throw new Error(`has “${value}”, which is not of the form ${shape}`)
  }
  // Port 0 means “any free port” to a listener. As a destination it is invalid.
  return { address, port: defaultPort === undefined ? port(portText) : integer(1, 65535)(portText) }
}

export function dnsServer(value: string): HostPort {
  return endpoint(value, 53)
}

/** A server of spamc, by default at its usual port. */
export function spamdAddress(value: string): HostPort {
  return endpoint(value, 783)
}

export function endpointOrOff(value: string): HostPort | null {
  return value === 'off' ? null : endpoint(value)
}

/** A token of 48 characters follows; an address has up to 64 before the @. */
export function returnPath(value: string): string {
  if (/^[\w.-]{1,15}@[a-z0-9.-]+$/i.test(value)) return value
  throw new Error('must be an email address with up to 15 letters, digits, . _ or - before the @')
}

/** A mailbox and its password. */
export type ImapAddress = {
  host: string
  port: number
  secure: boolean
  user: string
  password: string
}

export function imapAddress(value: string): ImapAddress {
  const form = 'must be imaps://user:password@host or imap://user:password@host'
  const url = URL.canParse(value) ? new URL(value) : null
  if (!url || !['imaps:', 'imap:'].includes(url.protocol)) throw new Error(form)
  const [user, password] = [decoded(url.username, form), decoded(url.password, form)]
  if (!url.hostname || !user || !password || url.pathname.length > 1) throw new Error(form)
  const secure = url.protocol === 'imaps:'
  return {
    host: url.hostname,
    port: Number(url.port || (secure ? 993 : 143)),
    secure,
    user,
    password,
  }
}

/** A part of a URL as text. @throws Error with the problem, without the value: it may be a password */
function decoded(part: string, problem: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw new Error(`${problem}, with %25 for a percent sign`)
  }
}

/** A contact as RFC 9116, section 2.5.3, wants it: a URI. A bare email address gets its scheme. */
export function contact(value: string): string {
  const uri = /^[^\s:@/]+@[^\s@]+$/.test(value) ? `mailto:${value}` : value
  const isContact = URL.canParse(uri) && /^(?:mailto|https|tel):\S+$/.test(uri)
  if (!isContact)
    throw new Error(`has “${value}”, which is neither an email address nor an https URL`)
  return uri
}

export function keyOfZone(value: string): [string, string] {
  const match = /^([a-z0-9.-]+)=([A-Za-z0-9_-]+)$/.exec(value)
  // The value may hold the key, so the message must not quote it.
  if (!match) throw new Error('must be a list of zone=key')
  return [match[1] as string, match[2] as string]
}
