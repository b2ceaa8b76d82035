import type { AggregateRecord } from '../../protocols/reports/aggregate-report.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'

type Seen = { domain: string | null; messages: number }

/**
 * A DKIM signer or envelope sender with its message counts. `aligned` counts messages that passed
 * because of it.
 */
export type SignerSeen = Seen & {
  selector: string | null
  result: string
  own: boolean
  aligned: number
}
export type EnvelopeSeen = Seen & { result: string; own: boolean; aligned: number }

/**
 * The domains that an address sent as, most messages first. `own`: the same organization as the
 * From header.
 */
export type Identities = {
  from: Seen[]
  signers: SignerSeen[]
  envelopes: EnvelopeSeen[]
  /** Messages without a DKIM signature. */
  unsigned: number
}

/** Identities listed of each kind; more are noise or an attack. */
const MAX_IDENTITIES = 50

/**
 * Sums the identities in the records of one address.
 * @param about the domain of the records; it replaces a missing From domain
 */
export function sumIdentities(records: AggregateRecord[], about: string): Identities {
  const from = new Map<string, Seen>()
  const signers = new Map<string, SignerSeen>()
  const envelopes = new Map<string, EnvelopeSeen>()
  let unsigned = 0
  for (const { count, identifiers, authResults, policyEvaluated } of records) {
    const headerFrom = identifiers.headerFrom ?? about
    add(from, [headerFrom], { domain: headerFrom, messages: count })
    if (authResults.dkim.length === 0) unsigned += count
    for (const { domain, selector, ...rest } of distinct(authResults.dkim)) {
      const seen = resultOf(rest.result, domain, headerFrom, policyEvaluated.dkim, count)
      add(signers, [domain, selector, seen.result], { domain, selector, ...seen })
    }
    for (const { domain, ...rest } of distinct(authResults.spf)) {
      const seen = resultOf(rest.result, domain, headerFrom, policyEvaluated.spf, count)
      add(envelopes, [domain, seen.result], { domain, ...seen })
    }
  }
  return { from: most(from), signers: most(signers), envelopes: most(envelopes), unsigned }
}

function resultOf(
  result: string | null,
  domain: string | null,
  from: string,
  evaluated: string | null,
  messages: number,
) {
  const own = isOwn(domain, from)
  const aligned = own && result === 'pass' && evaluated === 'pass' ? messages : 0
  return { result: result ?? 'none', own, messages, aligned }
}

/** Whether a pass for the one domain could align with the other (RFC 9989: relaxed alignment). */
function isOwn(domain: string | null, from: string): boolean {
  if (domain === null) return false
  return (
    domain === from || (registeredDomain(domain) ?? domain) === (registeredDomain(from) ?? from)
  )
}

/** Repeated signatures count once. */
function distinct<T extends object>(all: T[]): T[] {
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()]
}

function add<T extends { messages: number; aligned?: number }>(
  into: Map<string, T>,
  key: unknown[],
  seen: T,
): void {
  const known = into.get(JSON.stringify(key))
  if (!known) into.set(JSON.stringify(key), seen)
  else {
    known.messages += seen.messages
    if (known.aligned !== undefined) known.aligned += seen.aligned ?? 0
  }
}

function most<T extends { messages: number }>(seen: Map<string, T>): T[] {
  return [...seen.values()]
    .toSorted((one, other) => other.messages - one.messages)
    .slice(0, MAX_IDENTITIES)
}
