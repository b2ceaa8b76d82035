import ipaddr from 'ipaddr.js'
import { reversedLabels } from '../../net/address.ts'
import type { MacroValues } from './spf-macros.ts'

/**
 * Who wants to send: the client's address, the argument of MAIL FROM (empty for a bounce) and of
 * HELO.
 */
export type SpfClient = {
  ip: string
  sender: string
  helo: string
  /** The name of the receiver, for `%{r}` in an explanation. */
  receiver?: string
}

/** What the terms of a record are compared with. */
export type SpfIdentity = {
  address: ipaddr.IPv4 | ipaddr.IPv6
  /** The type of the records that can contain the address. */
  addressType: 'A' | 'AAAA'
  localPart: string
  domain: string
  helo: string
  receiver: string
}

export function identifyClient({ ip, sender, helo, receiver = 'unknown' }: SpfClient): SpfIdentity {
  // RFC 7208, 5: an IPv4 address written as IPv6 counts as the IPv4 address.
  const address = ipaddr.process(ip)
  // RFC 7208, 2.4 and 4.3: without a sender, or without its local part, it is the postmaster's
  // mail.
  const mailbox = sender === '' ? helo : sender
  const at = mailbox.lastIndexOf('@')
  return {
    address,
    addressType: address.kind() === 'ipv4' ? 'A' : 'AAAA',
    localPart: mailbox.slice(0, Math.max(0, at)) || 'postmaster',
    domain: withoutDot(mailbox.slice(at + 1)),
    helo,
    receiver,
  }
}

/** Whether the client's address lies in a network; without a prefix length, whether it is equal. */
export function isClientWithin(
  { address }: SpfIdentity,
  network: string,
  cidr: number | null,
): boolean {
  const other = ipaddr.parse(network)
  return (
    other.kind() === address.kind() &&
    address.match(other, cidr ?? (other.kind() === 'ipv4' ? 32 : 128))
  )
}

/**
 * The values of all macros (RFC 7208, 7.2).
 * @param domain the domain whose record is evaluated
 * @param clientName the validated name of the client, for `%{p}`
 */
export function macroValuesOf(
  { address, localPart, domain: senderDomain, helo, receiver }: SpfIdentity,
  domain: string,
  clientName: string,
): MacroValues {
  const ip = address.toString()
  const isIpv4 = address.kind() === 'ipv4'
  return {
    s: `${localPart}@${senderDomain}`,
    l: localPart,
    o: senderDomain,
    d: domain,
    i: isIpv4 ? ip : reversedLabels(ip).split('.').toReversed().join('.'),
    p: clientName,
    v: isIpv4 ? 'in-addr' : 'ip6',
    h: helo,
    c: ip,
    r: receiver,
    t: String(Math.floor(Date.now() / 1000)),
  }
}

/** Removes the dot of the root. */
export function withoutDot(name: string): string {
  return name.replace(/\.$/, '')
}
