import type { DnsQueries } from '../dns-queries.ts'
import { discoverDmarc, type DmarcDiscovery } from './dmarc-discovery.ts'
import type { DmarcPolicy } from './dmarc-record.ts'

/** The result of SPF or of a DKIM signature, in the terms of RFC 8601, and its domain. */
export type AuthenticatedIdentifier = { domain: string | null; result: string }

export type DmarcVerdict<T> = {
  /** `temperror`: an answer is missing that could have made it `pass`. */
  result: 'pass' | 'fail' | 'none' | 'temperror'
  /** What the domain requests for mail that fails; null without a record. */
  policy: DmarcPolicy | null
  /** The identifiers that make it pass. */
  aligned: T[]
}

/**
 * Decides whether a mail passes DMARC (RFC 9989, 5.3).
 * @param from the Author Domain
 */
export async function evaluateDmarc<T extends AuthenticatedIdentifier>(
  { from, spf, dkim }: { from: string; spf: T; dkim: T[] },
  queries: DnsQueries,
): Promise<DmarcVerdict<T>> {
  const discovery = await discoverDmarc(from, queries)
  const { record, effectivePolicy: policy, error } = discovery
  if (!record || !policy) return { result: error ? 'temperror' : 'none', policy: null, aligned: [] }
  const candidates = [
    { identifier: spf, mode: record.aspf },
    ...dkim.map((identifier) => ({ identifier, mode: record.adkim })),
  ]
  const found = await Promise.all(
    candidates.map(async ({ identifier, mode }) => {
      const { domain, result } = identifier
      if (domain === null || (result !== 'pass' && result !== 'temperror')) return []
      const isAligned = await aligns(discovery, domain, mode, queries)
      if (isAligned === false) return []
      return [{ identifier, isCertain: isAligned === true && result === 'pass' }]
    }),
  )
  const aligned = found.flat().filter(({ isCertain }) => isCertain)
  const result = aligned.length > 0 ? 'pass' : found.flat().length > 0 ? 'temperror' : 'fail'
  return { result, policy, aligned: aligned.map(({ identifier }) => identifier) }
}

/**
 * Whether a domain aligns with the Author Domain (RFC 9989, 4.4); null when an answer is missing
 * that decides it.
 */
async function aligns(
  from: DmarcDiscovery,
  domain: string,
  mode: 'r' | 's',
  queries: DnsQueries,
): Promise<boolean | null> {
  if (domain === from.domain) return true
  if (mode === 's') return false
  const isUnknown = ({ steps }: DmarcDiscovery) => steps.some(({ error }) => error)
  // The organizational domain is a name above both. So a mail cannot cause walks for strangers.
  const top = isUnknown(from) ? from.domain.split('.').slice(-1)[0] : from.organizationalDomain
  if (!`.${domain}`.endsWith(`.${top}`)) return false
  const other = await discoverDmarc(domain, queries)
  if (isUnknown(from) || isUnknown(other)) return null
  return other.organizationalDomain === from.organizationalDomain
}
