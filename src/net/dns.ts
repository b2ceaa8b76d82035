import type { Answer as PacketAnswer } from 'dns-packet'
import type { Endpoint } from '../config.ts'

/** The record types we ask for; `dns-packet` encodes and decodes them. */
export type RecordType = 'A' | 'AAAA' | 'CAA' | 'CNAME' | 'DS' | 'MX' | 'NS' | 'PTR' | 'SOA' | 'TLSA' | 'TXT'

/** Why there is no answer. `TIMEOUT` and `NETWORK` are ours, the others are RCODEs. */
export type DnsFailure = 'SERVFAIL' | 'REFUSED' | 'FORMERR' | 'NOTIMP' | 'TIMEOUT' | 'NETWORK' | 'ABORTED' | 'OTHER'

export type DnsRecord = PacketAnswer & { ttl: number }

/**
 * What came of one question. `NOERROR` with no records is NODATA. A failure is never an empty answer.
 * `ttl` is in seconds: the least of the answer section, or for a negative answer the one of RFC 2308 (SOA), else 0.
 */
export type DnsAnswer =
  | {
      status: 'NOERROR' | 'NXDOMAIN'
      /** The records of the asked type, at the end of any CNAME chain. */
      records: DnsRecord[]
      /** The names that CNAMEs led through, in order, without the asked one. */
      cnames: string[]
      ttl: number
      /** `address:port` of the resolver that answered. */
      server: string
      /** Milliseconds from the first try to the answer. */
      ms: number
    }
  | { status: 'FAILED'; failure: DnsFailure; server: string | null; ms: number }

export interface Resolver {
  /** Never throws: what goes wrong is in the answer. `name` is absolute, with or without a trailing dot. */
  query(name: string, type: RecordType, signal?: AbortSignal): Promise<DnsAnswer>
  readonly servers: readonly Endpoint[]
}
