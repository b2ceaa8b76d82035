import { Fault } from '../../errors.ts'
import {
  isAligned,
  openReports,
  readReport,
  reportKey,
  type AggregateRecord,
  type AggregateReport,
} from '../../protocols/reports/aggregate-report.ts'
import { openTlsReports, tlsReportKey, type TlsReport } from '../../protocols/reports/tls-report.ts'
import {
  isReport,
  unpack,
  type FoundReport,
  type UnpackCost,
  type UnpackLimits,
} from '../../protocols/reports/unpack.ts'
import { REPORT_LIMITS } from '../../protocols/reports/report-limits.ts'
import { domainOf } from '../../protocols/reports/report-values.ts'
import { RECORDS_PER_PART } from '../limits.ts'
import { createSelectors, type SelectorTally } from '../statistics/selectors.ts'
import { createTallies, type Tally } from '../statistics/tally.ts'

/** Records as a JSON array, and what they are found by. */
export type RecordPart = {
  json: string
  records: Pick<Tally, 'source' | 'headerFrom'>[]
  /** A character per record: 1 if DKIM or SPF passed, else 0. */
  passed: string
}

export type ReadAggregate = {
  kind: 'aggregate'
  name: string
  key: string
  report: AggregateReport
  /** The records in parts of `RECORDS_PER_PART`. */
  parts: RecordPart[]
  tallies: Tally[]
  selectors: SelectorTally[]
}
export type ReadTls = { kind: 'tls'; name: string; key: string; report: TlsReport }
type ReadFailure = { kind: 'failure'; name: string }
type UnreadableFile = { kind: 'unread'; name: string; reason: string }
export type ReadResult = ReadAggregate | ReadTls | ReadFailure | UnreadableFile

/** Reads every report in a file or email, and yields unreadable parts with the reason. */
export async function* readReports(
  bytes: Uint8Array,
  name: string,
  { domain, ...bounds }: ReadBounds = {},
): AsyncGenerator<ReadResult> {
  for await (const item of unpack(bytes, { name, ...bounds })) {
    if (!isReport(item)) yield { kind: 'unread', name: item.name, reason: item.reason }
    else if (item.kind === 'failure') yield { kind: 'failure', name: item.name }
    else yield* readFound(item, item.kind === 'tls' ? openTls(item, domain) : openAggregates(item))
  }
}

export type ReadBounds = {
  cost?: UnpackCost
  limits?: Partial<UnpackLimits>
  /** The domain whose report address received the mail. */
  domain?: string | undefined
}

/** The reports of a file, one behind the other; null after the last one. */
type ReportFile = { next(): Promise<ReadAggregate | ReadTls | null>; close?(): Promise<void> }

/** What cannot be read counts as one item; the file may go on behind it. */
async function* readFound({ name }: FoundReport, file: ReportFile): AsyncGenerator<ReadResult> {
  try {
    for (let count = 0; ; count++) {
      const read = await readOne(name, file)
      if (read === null) return
      if (count === REPORT_LIMITS.entries) {
        const reason = `The file contains more than ${count.toLocaleString('en')} reports. The others were not read.`
        yield { kind: 'unread', name, reason }
        return
      }
      yield read
    }
  } finally {
    await file.close?.()
  }
}

async function readOne(name: string, file: ReportFile): Promise<ReadResult | null> {
  try {
    const read = await file.next()
    return read && refuseUndated(read)
  } catch (error) {
    // Any other error is a defect of this service: the file is not rejected, so that the sender
    // retries.
    if (!(error instanceof Fault) || error.code === 'internal') throw error
    return { kind: 'unread', name, reason: error.message }
  }
}

function openTls({ name, mail, open }: FoundReport, domain: string | undefined): ReportFile {
  const reports = openTlsReports(open(), mail?.tlsReportDomain ?? domainInName(name) ?? domain)
  return {
    async next() {
      const report = await reports.next()
      return report && { kind: 'tls', name, key: tlsReportKey(report), report }
    },
  }
}

/** RFC 8460, 5.1: `submitter!policy-domain!begin!end`, perhaps more, and an extension. */
function domainInName(name: string): string | null {
  return domainOf(/^[^!]+!([^!]+)!\d+!\d+[!.]/.exec(name)?.[1])
}

function openAggregates({ name, open }: FoundReport): ReportFile {
  const reports = openReports(open())
  return {
    async next() {
      const tallies = createTallies()
      const selectors = createSelectors()
      const parts = createParts()
      const report = await readReport(reports, (record) => {
        tallies.add(record)
        selectors.add(record)
        parts.add(record)
      })
      return (
        report && {
          kind: 'aggregate',
          name,
          key: reportKey(report),
          report,
          parts: parts.all(),
          tallies: tallies.all(),
          selectors: selectors.all(),
        }
      )
    },
    close: () => reports.close(),
  }
}

/** Rejects reports on years that the statistics cannot represent. */
function refuseUndated<T extends ReadAggregate | ReadTls>(read: T): T | UnreadableFile {
  const { begin, end } = read.report.dateRange
  const isDated = [begin, end].every((date) => date.getTime() >= 0 && date.getUTCFullYear() < 2200)
  return isDated
    ? read
    : {
        kind: 'unread',
        name: read.name,
        reason: 'The report covers an impossible period: before 1970 or after 2199.',
      }
}

function createParts() {
  const parts: RecordPart[] = []
  let open: { json: string; isPassed: boolean; record: RecordPart['records'][number] }[] = []
  const close = () => {
    if (open.length > 0)
      parts.push({
        json: `[${open.map(({ json }) => json).join(',')}]`,
        records: open.map(({ record }) => record),
        passed: open.map(({ isPassed }) => (isPassed ? '1' : '0')).join(''),
      })
    open = []
  }
  return {
    add(record: AggregateRecord): void {
      const { sourceIp: source, identifiers } = record
      open.push({
        json: toStorableJson(record),
        isPassed: isAligned(record),
        record: { source, headerFrom: identifiers.headerFrom },
      })
      if (open.length === RECORDS_PER_PART) close()
    },
    all(): RecordPart[] {
      close()
      return parts
    },
  }
}

/** JSON without NUL and lone surrogates, which PostgreSQL cannot store. */
export function toStorableJson(value: unknown): string {
  const json = JSON.stringify(value)
  if (!/\\u(?:0000|d[89a-f])/.test(json)) return json
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'string' ? toStorableText(part) : part,
  )
}

/** Text without NUL and lone surrogates, which PostgreSQL cannot store. */
export function toStorableText(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}
