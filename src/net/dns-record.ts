import type { Answer as PacketAnswer } from 'dns-packet'

/** The record types that are queried; `dns-packet` encodes and decodes them. */
export type RecordType =
  'A' | 'AAAA' | 'CAA' | 'CNAME' | 'DS' | 'MX' | 'NS' | 'PTR' | 'SOA' | 'SPF' | 'TLSA' | 'TXT'

/**
 * Why a query has no answer: RCODEs, then reasons of our own. `BADNAME`: not a DNS name. `ABORTED`:
 * the caller's signal.
 */
export type DnsFailure =
  | 'SERVFAIL'
  | 'REFUSED'
  | 'FORMERR'
  | 'NOTIMP'
  | 'OTHER'
  | 'TIMEOUT'
  | 'NETWORK'
  | 'ABORTED'
  | 'BADNAME'

export type DnsRecord = PacketAnswer & { ttl: number }
