import { REPORT_LIMITS } from './report-limits.ts'
import { addressOf, countOf, domainOf, orNull, wordOf } from './report-values.ts'
import { childOf, childrenOf, childText, type XmlElement } from './xml-sections.ts'

/**
 * One row of a report: the counted messages of one address. Values are in lower case, otherwise as
 * the reporter wrote them.
 */
export type AggregateRecord = {
  /** In its canonical form; IPv4-mapped addresses as IPv4. */
  sourceIp: string
  /** 1 or more. */
  count: number
  policyEvaluated: {
    disposition: string | null
    dkim: string | null
    spf: string | null
    reasons: { type: string | null; comment: string | null }[]
  }
  /** Domains in lower case. */
  identifiers: { headerFrom: string | null; envelopeFrom: string | null; envelopeTo: string | null }
  authResults: {
    dkim: {
      domain: string | null
      selector: string | null
      result: string | null
      humanResult: string | null
    }[]
    spf: {
      domain: string | null
      scope: string | null
      result: string | null
      humanResult: string | null
    }[]
  }
}

/** `hardfail` is no word of an RFC, but reporters write it. */
const SPF_REFUSALS = new Set(['fail', 'hardfail', 'softfail', 'neutral'])

/**
 * Whether a result says that the SPF record does not permit the address (RFC 7208, 2.6). `temperror`,
 * `permerror` and `none` say that there was nothing to compare it with.
 */
export function isSpfRefusal(result: string | null): boolean {
  return result !== null && SPF_REFUSALS.has(result)
}

/** @returns null for a record without a readable address or a count of at least 1 */
export function readRecord(record: XmlElement): AggregateRecord | null {
  const row = childOf(record, 'row')
  const sourceIp = addressOf(childText(row, 'source_ip') ?? '')
  const count = countOf(childText(row, 'count'))
  if (sourceIp === null || !count) return null
  // Some reporters call it identities.
  const identifiers = childOf(record, 'identifiers') ?? childOf(record, 'identities')
  return {
    sourceIp,
    count,
    policyEvaluated: readEvaluated(childOf(row, 'policy_evaluated')),
    identifiers: {
      headerFrom: domainOf(childText(identifiers, 'header_from')),
      envelopeFrom: domainOf(childText(identifiers, 'envelope_from')),
      envelopeTo: domainOf(childText(identifiers, 'envelope_to')),
    },
    authResults: readResults(childOf(record, 'auth_results')),
  }
}

function readEvaluated(evaluated: XmlElement | undefined): AggregateRecord['policyEvaluated'] {
  const reasons = childrenOf(evaluated, 'reason').map((reason) => ({
    type: wordOf(childText(reason, 'type')),
    comment: commentOf(reason, 'comment'),
  }))
  return {
    disposition: wordOf(childText(evaluated, 'disposition')),
    dkim: wordOf(childText(evaluated, 'dkim')),
    spf: wordOf(childText(evaluated, 'spf')),
    reasons: reasons.filter(({ type, comment }) => type !== null || comment !== null),
  }
}

function readResults(results: XmlElement | undefined): AggregateRecord['authResults'] {
  const dkim = childrenOf(results, 'dkim').map((result) => ({
    domain: domainOf(childText(result, 'domain')),
    selector: orNull(childText(result, 'selector')),
    result: wordOf(childText(result, 'result')),
    humanResult: commentOf(result, 'human_result'),
  }))
  const spf = childrenOf(results, 'spf').map((result) => ({
    domain: domainOf(childText(result, 'domain')),
    scope: wordOf(childText(result, 'scope')),
    result: wordOf(childText(result, 'result')),
    humanResult: commentOf(result, 'human_result'),
  }))
  return { dkim, spf }
}

function commentOf(element: XmlElement, name: string): string | null {
  return orNull(childText(element, name)?.slice(0, REPORT_LIMITS.comment))
}
