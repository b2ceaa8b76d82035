import type { Socket } from 'node:net'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Cidr } from '../setting-values.ts'
import { createRecentEntries } from '../recent-entries.ts'

/** The headers in which a proxy names its client. */
export type ForwardingHeaders = {
  'x-forwarded-for'?: string | string[] | undefined
  forwarded?: string | undefined
}

/** An address in its canonical form, and as numbers. */
type Address = { text: string; parsed: ipaddr.IPv4 | ipaddr.IPv6 }

/** Stands for the address of a connection that is closed already. */
const UNKNOWN_PEER: Address = { text: '0.0.0.0', parsed: new ipaddr.IPv4([0, 0, 0, 0]) }

const MAX_RECENT_IPV6 = 20_000
/**
 * Addresses that were read: the library takes 20 µs for each. All of them together have some 6 MB.
 */
const recentIPv6 = createRecentEntries<Address>(MAX_RECENT_IPV6)

/** Addresses of connections: one connection carries many requests. */
const peers = new WeakMap<Socket, Address>()

/**
 * The client's address: the peer's, or behind trusted proxies the one they name, read from the
 * right. A hop is believed only when a trusted proxy named it. A hop that is no address (`unknown`,
 * `_hidden`, junk) ends the chain: the result is then the last trusted address. Never throws, and
 * always returns an address in its canonical form.
 *
 * `X-Forwarded-For` wins where both headers are present: nearly every proxy writes it, and one that
 * does so lets a client's own `Forwarded` (RFC 7239) through unread.
 */
export function clientAddress(socket: Socket, headers: ForwardingHeaders, trusted: Cidr[]): string {
  let client = peerAddress(socket)
  if (trusted.length === 0 || !isTrusted(client, trusted)) return client.text
  for (const hop of hopsFromRight(headers)) {
    const named = hop === null ? null : nodeAddress(hop)
    if (named === null) break
    client = named
    if (!isTrusted(client, trusted)) break
  }
  return client.text
}

/** The network that limits count as one client: an IPv4 address, or the /64 of an IPv6 address. */
export function clientNetwork(address: string): string {
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return `${new ipaddr.IPv6([...parsed.toByteArray().slice(0, 8), 0, 0, 0, 0, 0, 0, 0, 0]).toString()}/64`
}

function peerAddress(socket: Socket): Address {
  const known = peers.get(socket)
  if (known !== undefined) return known
  const address = plainAddress(socket.remoteAddress ?? '') ?? UNKNOWN_PEER
  peers.set(socket, address)
  return address
}

/** Null stands for a hop that names no client at all. */
function hopsFromRight(headers: ForwardingHeaders): Iterable<string | null> {
  // Node joins several lines of these headers with commas; types allow for an array.
  const forwardedFor = joined(headers['x-forwarded-for'])
  if (forwardedFor !== undefined) return forwardedFor.split(',').filter(isElement).toReversed()
  return forwardedHops(headers.forwarded ?? '')
}

function* forwardedHops(header: string): Generator<string | null> {
  if (header === '') return
  for (const element of splitFromRight(header, ',')) if (isElement(element)) yield forOf(element)
}

/** Empty elements of a list are ignored (RFC 9110, 5.6.1.2). */
const isElement = (text: string) => text.trim() !== ''

/**
 * The `for` parameter of one element of `Forwarded` (RFC 7239, section 4); null when there is not
 * exactly one.
 */
function forOf(element: string): string | null {
  const values: string[] = []
  for (const pair of splitFromRight(element, ';')) {
    const equals = pair.indexOf('=')
    if (pair.slice(0, equals).trim().toLowerCase() === 'for') values.push(pair.slice(equals + 1))
  }
  return values.length === 1 ? (values[0] as string) : null
}

/**
 * Splits at separators outside quoted strings, last part first. It reads from the right because the
 * left end is what a client may have written itself: an open quotation mark there must not swallow
 * what a proxy added after it.
 */
function* splitFromRight(text: string, separator: ',' | ';'): Generator<string> {
  let end = text.length
  let isQuoted = false
  for (let at = text.length - 1; at >= 0; at -= 1) {
    if (text[at] === '"' && !(isQuoted && isEscaped(text, at))) isQuoted = !isQuoted
    if (text[at] !== separator || isQuoted) continue
    yield text.slice(at + 1, end)
    end = at
  }
  yield text.slice(0, end)
}

/** Whether an odd number of backslashes stands before it (RFC 9110, section 5.6.4). */
function isEscaped(text: string, at: number): boolean {
  let first = at
  while (first > 0 && text[first - 1] === '\\') first -= 1
  return (at - first) % 2 === 1
}

/**
 * An IPv4 address, or an IPv6 address in brackets, each with the port that it may have (RFC 7239,
 * section 6).
 */
const IPV4_NODE = /^([\d.]+)(?::(?:\d{1,5}|_[\w.-]+))?$/
const IPV6_NODE = /^\[([^\]]+)\](?::(?:\d{1,5}|_[\w.-]+))?$/

/**
 * The address of a hop as proxies write it, with port, brackets or quotes; null when it is none.
 */
function nodeAddress(hop: string): Address | null {
  const trimmed = hop.trim()
  const plain = plainAddress(trimmed)
  if (plain) return plain
  const text = unquoted(trimmed)
  return plainAddress(IPV6_NODE.exec(text)?.[1] ?? IPV4_NODE.exec(text)?.[1] ?? text)
}

function unquoted(text: string): string {
  const inner = /^"(.*)"$/s.exec(text)?.[1]
  return inner === undefined ? text : inner.replace(/\\(.)/gs, '$1').trim()
}

/**
 * An IPv4-mapped IPv6 address becomes the IPv4 address, and a zone ID is removed, because it means
 * nothing on another host. This runs for every request, and the library is slow, so it only gets
 * IPv6 addresses.
 */
function plainAddress(text: string): Address | null {
  const bare = text.includes('%') ? text.replace(/%.*$/s, '') : text
  const family = isIP(bare)
  if (family === 0) return null
  // Node takes four decimal numbers without leading zeros, which is the canonical form.
  if (family === 4) return { text: bare, parsed: new ipaddr.IPv4(bare.split('.').map(Number)) }
  const known = recentIPv6.get(bare)
  if (known) return known
  const given = ipaddr.IPv6.parse(bare)
  const parsed = given.isIPv4MappedAddress() ? given.toIPv4Address() : given
  const address = { text: parsed.toString(), parsed }
  recentIPv6.set(bare, address)
  return address
}

function isTrusted({ parsed }: Address, trusted: Cidr[]): boolean {
  return trusted.some((cidr) => cidr[0].kind() === parsed.kind() && parsed.match(cidr))
}

function joined(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(',') : value
}
