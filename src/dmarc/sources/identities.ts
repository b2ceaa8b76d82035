import type { AggregateRecord } from '../../protocols/reports/aggregate-report.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'

type Seen = { domain: string | null; messages: number }

/** Somebody that the mail said it was from, and how many messages. `aligned`: those that passed by it. */
export type SignerSeen = Seen & { selector: string | null; result: string; own: boolean; aligned: number }
export type EnvelopeSeen = Seen & { result: string; own: boolean; aligned: number }

/** In whose names an address sent; the most messages first. `own`: of the same organisation as the From line. */
export type Identities = {
  from: Seen[]
  signers: SignerSeen[]
  envelopes: EnvelopeSeen[]
  /** Messages that had no signature at all. */
  unsigned: number
}

/** Of each kind: more are noise, or an attack. */
const MOST_SHOWN = 50

/**
 * Adds up whom the records of one address name.
 * @param about the domain they are about; a record whose From line is not known is about itself
 */
export function identitiesOf(records: AggregateRecord[], about: string): Identities {
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
  return domain === from || (registeredDomain(domain) ?? domain) === (registeredDomain(from) ?? from)
}

/** One signature said twice is one. */
function distinct<T extends object>(all: T[]): T[] {
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()]
}

function add<T extends { messages: number; aligned?: number }>(into: Map<string, T>, key: unknown[], seen: T): void {
  const known = into.get(JSON.stringify(key))
  if (!known) into.set(JSON.stringify(key), seen)
  else {
    known.messages += seen.messages
    if (known.aligned !== undefined) known.aligned += seen.aligned ?? 0
  }
}

function most<T extends { messages: number }>(seen: Map<string, T>): T[] {
  return [...seen.values()].toSorted((one, other) => other.messages - one.messages).slice(0, MOST_SHOWN)
}
