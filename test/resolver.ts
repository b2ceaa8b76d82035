import type { DnsAnswer, DnsFailure, RecordType, Resolver } from '../src/net/dns.ts'
import { findAnswer, parseRecord, type Records } from './servers/dns-records.ts'

export type MapResolver = Resolver & {
  /** Every question in order, as `name TYPE`. */
  asked: string[]
}

/**
 * A resolver without a network: records in the text of zone files, and failures by `name TYPE` or
 * `name *`, where a name may begin with `*.` (anything below it), or `*` for every question. It sets
 * AD when each name of the answer `isSigned`.
 */
export function mapResolver(
  records: Records = {},
  failures: Record<string, DnsFailure> = {},
  isSigned: (name: string) => boolean = () => false,
): MapResolver {
  const asked: string[] = []
  return {
    servers: [],
    asked,
    async query(name, type, signal) {
      asked.push(`${name} ${type}`)
      // An answer never comes in the same turn.
      await Promise.resolve()
      const failure = signal?.aborted ? 'ABORTED' : failureFor(failures, name.toLowerCase(), type)
      if (failure) return { status: 'FAILED', failure, server: 'map', ms: 0 }
      return answerFrom(records, name, type, isSigned)
    },
  }
}

function failureFor(
  failures: Record<string, DnsFailure>,
  name: string,
  type: RecordType,
): DnsFailure | undefined {
  const labels = name.split('.')
  const owners = [name, ...labels.map((_label, index) => `*.${labels.slice(index + 1).join('.')}`)]
  const keys = [...owners.flatMap((owner) => [`${owner} ${type}`, `${owner} *`]), '*']
  return keys.map((key) => failures[key]).find((failure) => failure !== undefined)
}

function answerFrom(
  records: Records,
  name: string,
  type: RecordType,
  isSigned: (name: string) => boolean,
): DnsAnswer {
  const { rcode, answers } = findAnswer(records, name, type)
  const found = answers.map(({ key, text }) => parseRecord(key, text, 300))
  const cnames =
    type === 'CNAME'
      ? []
      : found.flatMap((record) => (record.type === 'CNAME' ? [record.data] : []))
  return {
    status: rcode === 0 ? 'NOERROR' : 'NXDOMAIN',
    records: found
      .filter((record) => record.type === type)
      .map((record) => ({ ...record, ttl: 300 })),
    cnames,
    ttl: 300,
    isAuthenticated: [name, ...cnames].every(isSigned),
    isAuthoritative: false,
    server: 'map',
    ms: 0,
  }
}
