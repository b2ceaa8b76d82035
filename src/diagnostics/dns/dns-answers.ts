import type { DnsAnswer, RecordType } from '../../net/dns.ts'
import type { DnsResult } from '../shapes.ts'

/** The record types that the DNS check queries. */
export const DNS_CHECK_TYPES = [
  'A',
  'AAAA',
  'MX',
  'TXT',
  'CNAME',
  'NS',
  'SOA',
  'CAA',
] as const satisfies RecordType[]

/** The answer for each record type, by the name of its field in the result. */
export type DnsAnswers = Record<Lowercase<(typeof DNS_CHECK_TYPES)[number]>, DnsAnswer>

/** The records of a domain, as the result shows them. */
export type DnsRecords = Pick<
  DnsResult,
  'a' | 'aaaa' | 'mx' | 'txt' | 'cname' | 'ns' | 'soa' | 'caa'
>
