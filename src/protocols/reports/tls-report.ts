import { createHash } from 'node:crypto'
import { Fault } from '../../errors.ts'
import { decodeText } from './charset.ts'
import { REPORT_LIMITS } from './report-limits.ts'
import { addressOf, countOf, domainOf, orNull, printable, timeOf, wordOf } from './report-values.ts'

/** An SMTP TLS report (RFC 8460, 4). What the reporter did not say is null. */
export type TlsReport = {
  reportId: string
  organizationName: string
  contactInfo: string | null
  dateRange: { begin: Date; end: Date }
  policies: TlsReportPolicy[]
  /** Policies without a readable domain, which belong to no domain. */
  skippedPolicies: number
}

export type TlsReportPolicy = {
  /** `sts`, `tlsa` or `no-policy-found`. */
  policyType: string
  policyString: string[]
  /** In lower case, as an A-label. One report may speak of several domains. */
  policyDomain: string
  mxHost: string[]
  totalSuccessfulSessionCount: number
  totalFailureSessionCount: number
  failureDetails: TlsFailure[]
}

type TlsFailure = {
  resultType: string
  sendingMtaIp: string | null
  receivingMxHostname: string | null
  receivingMxHelo: string | null
  receivingIp: string | null
  failedSessionCount: number
  additionalInformation: string | null
  failureReasonCode: string | null
}

export type TlsReports = {
  /**
   * Reads the next report of the file; null when there is none any more.
   * @throws Fault `invalid_request` or `too_large`, with a sentence that names the problem
   */
  next(): Promise<TlsReport | null>
}

/**
 * Opens a file of SMTP TLS reports, up to four megabytes, because it must be in memory as a whole.
 * @param domain of policies that name none: RFC 8460 requires it, but some reporters leave it out
 *   where they found no policy
 */
export function openTlsReports(
  json: AsyncIterable<Uint8Array> | Uint8Array,
  domain: string | null = null,
): TlsReports {
  let documents: string[] | undefined
  return {
    async next() {
      // Set first, so that an error here is the only one.
      const known = documents
      documents ??= []
      documents = known ?? splitJson(await textOf(json))
      const text = documents.shift()
      return text === undefined ? null : readReport(asObject(parseJson(text)), domain)
    },
  }
}

function readReport(report: Fields, domain: string | null): TlsReport {
  const range = asObject(report['date-range'])
  const [begin, end] = [timeOf(range['start-datetime']), timeOf(range['end-datetime'])]
  const reportId = stringOf(report['report-id'])
  if (!reportId) throw missing('report-id')
  if (!begin) throw missing('start-datetime')
  if (!end) throw missing('end-datetime')
  const contactInfo = stringOf(report['contact-info'])
  const entries = listOf(report['policies'])
  const policies = readPolicies(entries, domain)
  if (entries.length > 0 && policies.length === 0) throw missing('policy-domain')
  return {
    reportId: reportId.slice(0, REPORT_LIMITS.name),
    organizationName: stringOf(report['organization-name']) ?? contactInfo?.split('@')[1] ?? '',
    contactInfo,
    dateRange: { begin, end },
    policies,
    skippedPolicies: entries.length - policies.length,
  }
}

/** Policies that name their domain. @throws Fault `too_large` */
function readPolicies(entries: Fields[], domain: string | null): TlsReportPolicy[] {
  const failures = entries.reduce((sum, entry) => sum + listOf(entry['failure-details']).length, 0)
  refuseMore(entries.length, REPORT_LIMITS.tlsPolicies, 'policies')
  refuseMore(failures, REPORT_LIMITS.tlsFailures, 'failures')
  return entries.map((entry) => readPolicy(entry, domain)).filter((policy) => policy !== null)
}

function refuseMore(count: number, most: number, what: string): void {
  if (count <= most) return
  throw new Fault('too_large', `The report has more than ${most.toLocaleString('en')} ${what}.`)
}

function missing(name: string): Fault {
  return new Fault('invalid_request', `The report has no valid “${name}”.`)
}

async function textOf(json: AsyncIterable<Uint8Array> | Uint8Array): Promise<string> {
  let text = ''
  for await (const piece of decodeText(json instanceof Uint8Array ? [json] : json)) {
    text += piece
    if (text.length > REPORT_LIMITS.tlsReport)
      throw new Fault('too_large', 'The report is too large for a TLS report.')
  }
  return text
}

/** The objects that stand in a text one behind the other; what follows the last is ignored. */
function splitJson(text: string): string[] {
  const documents: string[] = []
  let start = text.indexOf('{')
  let [depth, isQuoted] = [0, false]
  for (let at = Math.max(0, start); at < text.length; at++) {
    const character = text[at]
    if (isQuoted && character === '\\') at++
    else if (character === '"') isQuoted = !isQuoted
    else if (!isQuoted && character === '{') depth++
    else if (!isQuoted && character === '}') depth--
    if (isQuoted || character !== '}' || depth > 0) continue
    documents.push(text.slice(start, at + 1))
    const gap = /^[\s,]*\{/.exec(text.slice(at + 1, at + 1 + MAX_GAP_CHARACTERS))
    if (!gap || documents.length > REPORT_LIMITS.entries) return documents
    at += gap[0].length - 1
    start = at + 1
  }
  return [...documents, text.slice(Math.max(0, start))]
}

/** Characters between two objects; more are something else. */
const MAX_GAP_CHARACTERS = 1_000

function parseJson(text: string): unknown {
  let brackets = 0
  for (const _ of text.matchAll(/[[{]/g)) {
    brackets++
    if (brackets > REPORT_LIMITS.brackets)
      throw new Fault('too_large', 'The JSON has too many objects and lists.')
  }
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (cause) {
    throw new Fault('invalid_request', 'The JSON is damaged or truncated.', { cause })
  }
}

type Fields = Record<string, unknown>

/** @returns null for a policy without a readable domain */
function readPolicy(entry: Fields, domain: string | null): TlsReportPolicy | null {
  const [policy, summary] = [asObject(entry['policy']), asObject(entry['summary'])]
  const policyDomain = domainOf(stringOf(policy['policy-domain'])) ?? domain
  if (policyDomain === null) return null
  return {
    policyType: wordOf(stringOf(policy['policy-type'])) ?? 'no-policy-found',
    policyString: stringsOf(policy['policy-string']),
    policyDomain,
    mxHost: stringsOf(policy['mx-host'] ?? policy['mx-host-pattern']),
    totalSuccessfulSessionCount: countOf(summary['total-successful-session-count']) ?? 0,
    totalFailureSessionCount: countOf(summary['total-failure-session-count']) ?? 0,
    failureDetails: listOf(entry['failure-details']).map(readFailure),
  }
}

function readFailure(detail: Fields): TlsFailure {
  const said = (name: string) => stringOf(detail[name])
  return {
    resultType: wordOf(said('result-type')) ?? 'unknown',
    sendingMtaIp: addressOf(said('sending-mta-ip') ?? ''),
    receivingMxHostname: said('receiving-mx-hostname'),
    receivingMxHelo: said('receiving-mx-helo'),
    receivingIp: addressOf(said('receiving-ip') ?? ''),
    failedSessionCount: countOf(detail['failed-session-count']) ?? 0,
    additionalInformation: said('additional-information') ?? said('additional-info-uri'),
    failureReasonCode: said('failure-reason-code') ?? said('failure-error-code'),
  }
}

function asObject(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {}
}

/** Some reporters give one object where a list belongs. */
function listOf(value: unknown): Fields[] {
  return (Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]).map(
    asObject,
  )
}

/** Some reporters give one text where a list belongs. */
function stringsOf(value: unknown): string[] {
  const texts = (Array.isArray(value) ? value : [value]).slice(0, REPORT_LIMITS.tlsTexts)
  return texts.map(stringOf).filter((text) => text !== null)
}

function stringOf(value: unknown): string | null {
  return typeof value === 'string'
    ? orNull(printable(value.slice(0, REPORT_LIMITS.text)).trim())
    : null
}

/** Equal for two copies of one report. 64 hexadecimal digits. */
export function tlsReportKey({ organizationName, reportId, dateRange }: TlsReport): string {
  const parts = [
    organizationName.toLowerCase(),
    reportId,
    dateRange.begin.getTime(),
    dateRange.end.getTime(),
  ]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
