import { bareText, isNetwork, plainHost, visibleText } from '../host-text.ts'

/** A recognized input: an address or a domain, and the port if one was named. */
export type CheckTarget = { kind: 'address' | 'domain'; name: string; port?: number }

const IPV6 = /^\[?((?=.*:.*:)[\da-f:]+(\.\d+){0,3})\]?$/i
const BRACKETED = /^\[([\da-f:.]+)\]:(\d+)$/i

/**
 * Recognizes a domain, an IPv4 or IPv6 address, a web address (its host), a host with a port, or an
 * email address (its domain). The service validates the name.
 * @returns null when there is nothing to check
 */
export function guessTarget(typed: string): CheckTarget | null {
  const given = bareText(visibleText(typed))
  if (isNetwork(given)) return null
  const authority = authorityOf(given)
  const [, six = IPV6.exec(authority)?.[1], sixPort] = BRACKETED.exec(authority) ?? []
  if (six !== undefined) return withPort({ kind: 'address', name: six.toLowerCase() }, sixPort)
  const [, text = authority, port] = /^(.*):(\d+)$/.exec(authority) ?? []
  const host = plainHost(text)
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(host)) return withPort({ kind: 'address', name: host }, port)
  if (!/^[^\s/@:]+\.[^\s/@:]*[^\s/@:\d.][^\s/@:]*$/.test(host)) return null
  return withPort({ kind: 'domain', name: host }, port)
}

/** A target as it is typed: `mail.example.com:993`. */
export function targetText({ name, port }: CheckTarget): string {
  if (port === undefined) return name
  return name.includes(':') ? `[${name}]:${port}` : `${name}:${port}`
}

const MAX_PORT = 65_535

function withPort(target: CheckTarget, port: string | undefined): CheckTarget {
  const number = Number(port ?? 0)
  return number > 0 && number <= MAX_PORT ? { ...target, port: number } : target
}

function authorityOf(text: string): string {
  const withoutScheme = text.replace(/^([a-z][a-z\d+.-]*:\/\/|mailto:)/i, '')
  return (withoutScheme.split(/[/?#]/)[0] ?? '').replace(/^.*@/, '')
}
