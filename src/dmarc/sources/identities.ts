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
  /** The domains of the envelope sender, which is what DMARC compares (RFC 9989, 4.4.2). */
  envelopes: EnvelopeSeen[]
  /** Messages without a DKIM signature. */
  unsigned: number
  /**
   * Messages that passed only for another domain than the exact one that the published policy
   * requires.
   */
  inexact: { dkim: number; spf: number }
}

/** A record with the alignment that its report says was published. */
type PublishedRecord = AggregateRecord & {
  report: { adkim: string | null; aspf: string | null }
}

/** Identities listed of each kind; more are noise or an attack. */
const MAX_IDENTITIES = 50

/**
 * Sums the identities in the records of one address.
 * @param about the domain of the records; it replaces a missing From domain
 */
export function sumIdentities(records: PublishedRecord[], about: string): Identities {
  const from = new Map<string, Seen>()
  const signers = new Map<string, SignerSeen>()
  const envelopes = new Map<string, EnvelopeSeen>()
  let unsigned = 0
  const inexact = { dkim: 0, spf: 0 }
  for (const record of records) {
    const { count, identifiers, policyEvaluated, report } = record
    const headerFrom = identifiers.headerFrom ?? about
    add(from, [headerFrom], { domain: headerFrom, messages: count })
    // RFC 8601, 2.7.1: `none` is a message that was not signed.
    const signatures = distinct(record.authResults.dkim).filter(({ result }) => result !== 'none')
    if (signatures.length === 0) unsigned += count
    for (const { domain, selector, ...rest } of signatures) {
      const seen = resultOf(rest.result, domain, headerFrom, policyEvaluated.dkim, count)
      add(signers, [domain, selector, seen.result], { domain, selector, ...seen })
    }
    const senders = distinct(envelopesOf(record))
    for (const { domain, result } of senders) {
      const seen = resultOf(result, domain, headerFrom, policyEvaluated.spf, count)
      add(envelopes, [domain, seen.result], { domain, ...seen })
    }
    const isInexact = (all: Result[]) => all.some((each) => isInexactPass(each, headerFrom))
    if (report.adkim === 's' && policyEvaluated.dkim !== 'pass' && isInexact(signatures))
      inexact.dkim += count
    if (report.aspf === 's' && policyEvaluated.spf !== 'pass' && isInexact(senders))
      inexact.spf += count
  }
  return {
    from: most(from),
    signers: most(signers),
    envelopes: most(envelopes),
    unsigned,
    inexact,
  }
}

type Result = { domain: string | null; result: string | null }

/**
 * The envelope senders of a record. What SPF says of the HELO name counts only where it made the
 * message pass, as for a bounce, which has no sender (RFC 7208, 2.4).
 */
function envelopesOf({ authResults, identifiers, policyEvaluated }: AggregateRecord): Result[] {
  const senders = authResults.spf.filter(({ scope }) => scope !== 'helo')
  const named = identifiers.envelopeFrom
  const counted = senders.length > 0 || policyEvaluated.spf !== 'pass' ? senders : authResults.spf
  if (counted.length === 0 && named !== null) return [{ domain: named, result: null }]
  return counted.map(({ domain, result }) => ({ domain, result }))
}

function isInexactPass({ domain, result }: Result, from: string): boolean {
  return result === 'pass' && domain !== from && isOwn(domain, from)
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
  return { result: result ?? 'unknown', own, messages, aligned }
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
