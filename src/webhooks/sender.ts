import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Cidr } from '../config.ts'

/** A header as it was sent: its name in the sender's letters, its value one byte a character. */
export type Header = [name: string, value: string]

const peers = new WeakMap<Socket, string>()

/** `rawHeaders` in pairs: order, letters and repetitions as they were sent. */
export function pairs(raw: string[]): Header[] {
  const headers: Header[] = []
  for (let i = 0; i + 1 < raw.length; i += 2) headers.push([raw[i] as string, raw[i + 1] as string])
  return headers
}

/** The first value under this name, in any letters. */
export function headerOf(headers: Header[], name: string): string | undefined {
  const wanted = name.toLowerCase()
  return headers.find(([other]) => other.length === wanted.length && other.toLowerCase() === wanted)?.[1]
}

/**
 * The sender's address: the peer's, or through trusted proxies the last one in X-Forwarded-For that is not theirs. What
 * stands further left, anybody may have written.
 */
export function senderAddress(socket: Socket, forwardedFor: string | undefined, trusted: Cidr[]): string {
  let address = peerAddress(socket)
  if (trusted.length === 0 || forwardedFor === undefined) return address
  for (const hop of forwardedFor.split(',').toReversed()) {
    const before = isTrusted(address, trusted) ? canonical(hop.trim()) : null
    if (before === null) break
    address = before
  }
  return address
}

function peerAddress(socket: Socket): string {
  const known = peers.get(socket)
  if (known !== undefined) return known
  // A socket that is gone already has no address.
  const address = canonical(socket.remoteAddress ?? '') ?? '0.0.0.0'
  peers.set(socket, address)
  return address
}

/** An IPv4 address mapped into IPv6 is the IPv4 address; proxies add ports and brackets. */
function canonical(text: string): string | null {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  const plain = bare.replace(/%.*$/, '')
  return ipaddr.IPv6.isValid(plain) || ipaddr.IPv4.isValidFourPartDecimal(plain)
    ? ipaddr.process(plain).toString()
    : null
}

function isTrusted(address: string, trusted: Cidr[]): boolean {
  const parsed = ipaddr.parse(address)
  return trusted.some((cidr) => cidr[0].kind() === parsed.kind() && parsed.match(cidr))
}
