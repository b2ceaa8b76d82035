import type { Resolver } from '../net/dns.ts'
import { discoverDmarc } from '../protocols/dmarc/dmarc-discovery.ts'
import { checkHelo } from '../protocols/mail/mail-authentication.ts'
import { createDnsQueries } from '../protocols/dns-queries.ts'
import type { ReverseDns } from '../protocols/networks/reverse-dns.ts'

/** Further evidence for a mail server whose HELO name is confirmed by its reverse DNS. */
type ServerEvidence = {
  /** The result of SPF for that name and address, in the terms of RFC 8601. */
  spf: string
  /**
   * The DMARC policy that applies to that name; null when there is none, or when it could not be
   * found out.
   */
  dmarc: string | null
}

export type ReverseDnsEvidence = ReverseDns & { evidence?: ServerEvidence }

/** Milliseconds for all queries. The letter can do without the result. */
const TIMEOUT_MS = 10_000

/** Never throws: facts that could not be determined are left out. */
export async function addEvidence(
  ip: string,
  reverse: ReverseDns,
  resolver: Resolver,
  outer: AbortSignal,
): Promise<ReverseDnsEvidence> {
  const [name] = reverse.names
  if (reverse.status !== 'confirmed' || name === undefined) return reverse
  const signal = AbortSignal.any([outer, AbortSignal.timeout(TIMEOUT_MS)])
  const [spf, { effectivePolicy: dmarc }] = await Promise.all([
    checkHelo(name, ip, resolver, signal),
    discoverDmarc(name, createDnsQueries(resolver, signal)),
  ])
  return { ...reverse, evidence: { spf, dmarc } }
}
