import type { Answer as PacketAnswer } from 'dns-packet'

/** The record types that are queried; `dns-packet` encodes and decodes them. */
export type RecordType =
  | 'A'
  | 'AAAA'
  | 'CAA'
  | 'CNAME'
  | 'DNSKEY'
  | 'DS'
  | 'MX'
  | 'NS'
  | 'PTR'
  | 'SOA'
  | 'SPF'
  | 'SRV'
  | 'TLSA'
  | 'TXT'

/** How a query differs from the usual one of a stub resolver. */
export type QueryOptions = {
  /** The CD bit: the resolver also returns records that fail DNSSEC validation (RFC 4035, 3.2.2). */
  checkingDisabled?: boolean
  /** False asks a server for its own records only, without recursion. */
  recursionDesired?: boolean
}

/**
 * Why a query has no answer: RCODEs, then reasons of our own. `ALIASES`: the resolver did not follow
 * all aliases. `BADNAME`: not a DNS name. `ABORTED`: the caller's signal.
 */
export type DnsFailure =
  | 'SERVFAIL'
  | 'REFUSED'
  | 'FORMERR'
  | 'NOTIMP'
  | 'OTHER'
  | 'ALIASES'
  | 'TIMEOUT'
  | 'NETWORK'
  | 'ABORTED'
  | 'BADNAME'

export type DnsRecord = PacketAnswer & { ttl: number }
