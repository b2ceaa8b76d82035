import { createHash } from 'node:crypto'
import { Fault } from '../../errors.ts'
import { readRecord, type AggregateRecord } from './aggregate-record.ts'
import { REPORT_LIMITS } from './report-limits.ts'
import { domainOf, orNull, timeOf, wordOf } from './report-values.ts'
import {
  childOf,
  childrenOf,
  openDocuments,
  childText,
  wanted,
  type XmlDocuments,
  type XmlElement,
} from './xml-sections.ts'
import { DAY_MS } from '../../time.ts'

/**
 * An aggregate report (RFC 7489, appendix C; RFC 9990) without its records. What the reporter did
 * not say is null.
 */
export type AggregateReport = {
  reportId: string
  /** The domain of `email` where the reporter does not name itself; "" where neither is given. */
  orgName: string
  email: string | null
  extraContactInfo: string | null
  /** Errors that the reporter noted while it created the report. */
  errors: string[]
  dateRange: { begin: Date; end: Date }
  policyPublished: PolicyPublished
  version: string | null
  /** RFC 9990: the software that wrote the report. */
  generator: string | null
  namespace: string | null
  /**
   * Records passed to `onRecord`, and those left out because they have no readable address or
   * count.
   */
  recordCount: number
  skippedRecords: number
  /** Problems that were skipped, in plain words. */
  warnings: string[]
}

/** Words are in lower case, else as the reporter wrote them. */
type PolicyPublished = {
  /** In lower case, as an A-label, without a trailing dot. */
  domain: string
  discoveryMethod: string | null
  p: string | null
  sp: string | null
  np: string | null
  adkim: string | null
  aspf: string | null
  /** RFC 7489 only; as text. */
  pct: string | null
  fo: string | null
  testing: string | null
}

export type { AggregateRecord }

/** A record that passed DMARC: counted from the evaluated policy, never from the raw results. */
export function isAligned({ policyEvaluated }: Pick<AggregateRecord, 'policyEvaluated'>): boolean {
  return policyEvaluated.dkim === 'pass' || policyEvaluated.spf === 'pass'
}

/** Opens a file of aggregate reports: nearly always one, but some reporters send more. */
export function openReports(xml: AsyncIterable<Uint8Array> | Uint8Array): XmlDocuments {
  return openDocuments(xml, FEEDBACK)
}

/**
 * Reads the next aggregate report of a file as a stream, in constant memory. Each record is passed
 * to `onRecord` and awaited. A report that fails in the middle has already passed records: store
 * them in one transaction.
 * @returns null when there is none any more
 * @throws Fault `invalid_request` or `too_large`, with a sentence that names the problem and its
 *   position
 */
export async function readReport(
  reports: XmlDocuments,
  onRecord: (record: AggregateRecord) => void | Promise<void> = () => {},
): Promise<AggregateReport | null> {
  if (!(await reports.findNext())) return null
  const draft: Draft = { metadata: null, policy: null, version: null, records: 0, skipped: 0 }
  const { namespace, blemish } = await reports.read((section) => {
    if (section.name !== 'record') return keep(section, draft)
    const record = takeRecord(section, draft)
    return record ? onRecord(record) : undefined
  })
  const warnings = blemish ? [`The XML is ${blemish}.`] : []
  return assemble(draft, { namespace, warnings })
}

const FEEDBACK = wanted('feedback', ['version'], ['report_metadata', 'policy_published', 'record'])

/** The report as far as it was read. Of a duplicate section, the first counts. */
type Draft = {
  metadata: XmlElement | null
  policy: XmlElement | null
  version: string | null
  records: number
  skipped: number
}

function keep(section: XmlElement, draft: Draft): void {
  if (section.name === 'report_metadata') draft.metadata ??= section
  if (section.name === 'policy_published') draft.policy ??= section
  if (section.name === 'version') draft.version ??= orNull(section.text)
}

function takeRecord(section: XmlElement, draft: Draft): AggregateRecord | null {
  const record = readRecord(section)
  if (record) draft.records++
  else draft.skipped++
  if (draft.records + draft.skipped <= REPORT_LIMITS.records) return record
  throw new Fault(
    'too_large',
    `The report has more than ${REPORT_LIMITS.records.toLocaleString('en')} records.`,
  )
}

function assemble(
  draft: Draft,
  { namespace, warnings }: Pick<AggregateReport, 'namespace' | 'warnings'>,
) {
  const { metadata, policy, version, records, skipped } = draft
  if (!metadata) throw missing('report_metadata', warnings)
  if (!policy) throw missing('policy_published', warnings)
  const report: AggregateReport = {
    ...readMetadata(metadata),
    policyPublished: readPolicy(policy),
    version,
    namespace,
    recordCount: records,
    skippedRecords: skipped,
    warnings,
  }
  warnings.push(...warningsAbout(report))
  return report
}

/** @param why errors of the XML, which may have hidden the element */
function missing(name: string, why: string[] = []): Fault {
  const sentences = [`The report has no valid <${name}> element.`, ...why]
  return new Fault('invalid_request', sentences.join(' '))
}

function readMetadata(metadata: XmlElement) {
  const email = childText(metadata, 'email') ?? null
  const reportId = childText(metadata, 'report_id')
  if (!reportId) throw missing('report_id')
  return {
    reportId: reportId.slice(0, REPORT_LIMITS.name),
    orgName: childText(metadata, 'org_name') ?? email?.split('@')[1] ?? '',
    email,
    extraContactInfo: childText(metadata, 'extra_contact_info') ?? null,
    errors: childrenOf(metadata, 'error')
      .map(({ text }) => text.slice(0, REPORT_LIMITS.comment))
      .filter(Boolean),
    dateRange: readRange(childOf(metadata, 'date_range')),
    generator: childText(metadata, 'generator') ?? null,
  }
}

function readRange(range: XmlElement | undefined): AggregateReport['dateRange'] {
  const [begin, end] = ['begin', 'end'].map((name) => timeOf(childText(range, name)))
  if (!begin) throw missing('begin')
  if (!end) throw missing('end')
  return { begin, end }
}

function readPolicy(policy: XmlElement): PolicyPublished {
  const word = (name: string) => wordOf(childText(policy, name))
  const domain = domainOf(childText(policy, 'domain'))
  if (domain === null) throw missing('domain')
  return {
    domain,
    discoveryMethod: word('discovery_method'),
    p: word('p'),
    sp: word('sp'),
    np: word('np'),
    adkim: word('adkim'),
    aspf: word('aspf'),
    pct: word('pct'),
    fo: word('fo'),
    testing: word('testing'),
  }
}

function warningsAbout({ dateRange, recordCount, skippedRecords }: AggregateReport): string[] {
  const warnings: string[] = []
  const span = dateRange.end.getTime() - dateRange.begin.getTime()
  if (span < 0) warnings.push('The period ends before it begins.')
  if (span > 2 * DAY_MS)
    warnings.push(
      `The period is ${Math.round(span / DAY_MS)} days long. Reports should cover one day.`,
    )
  if (recordCount + skippedRecords === 0) warnings.push('The report has no records.')
  if (skippedRecords > 0) {
    const what =
      skippedRecords === 1 ? '1 record has' : `${skippedRecords.toLocaleString('en')} records have`
    warnings.push(
      `${what} no valid address or count and ${skippedRecords === 1 ? 'was' : 'were'} skipped.`,
    )
  }
  return warnings
}

/**
 * Equal for two copies of one report, in any container and on any day: reporter (in lower case),
 * policy domain, ID and period. 64 hexadecimal digits; unique within one registered domain.
 */
export function reportKey({
  orgName,
  policyPublished,
  reportId,
  dateRange,
}: AggregateReport): string {
  const parts = [orgName.toLowerCase(), policyPublished.domain, reportId.replace(/^<(.*)>$/, '$1')]
  const period = [dateRange.begin.getTime(), dateRange.end.getTime()]
  return createHash('sha256')
    .update(JSON.stringify([...parts, ...period]))
    .digest('hex')
}
