import { Fault } from '../../errors.ts'
import {
  parseAggregateReport,
  reportKey,
  type AggregateRecord,
  type AggregateReport,
} from '../../protocols/reports/aggregate-report.ts'
import { parseTlsReport, tlsReportKey, type TlsReport } from '../../protocols/reports/tls-report.ts'
import {
  isReport,
  unpack,
  type FoundReport,
  type UnpackCost,
  type UnpackLimits,
} from '../../protocols/reports/unpack.ts'
import { PART_RECORDS } from '../limits.ts'
import { createSelectors, type SelectorTally } from '../statistics/selectors.ts'
import { createTallies, type Tally } from '../statistics/tally.ts'

export type ReadAggregate = {
  kind: 'aggregate'
  name: string
  key: string
  report: AggregateReport
  /** The records as JSON arrays, so many in each. */
  parts: string[]
  tallies: Tally[]
  selectors: SelectorTally[]
}
export type ReadTls = { kind: 'tls'; name: string; key: string; report: TlsReport }
export type ReadFailure = { kind: 'failure'; name: string }
export type Unread = { kind: 'unread'; name: string; reason: string }
export type Read = ReadAggregate | ReadTls | ReadFailure | Unread

/** Reads every report in a file or mail. What cannot be read comes out with the reason; nothing is left out. */
export async function* readReports(
  bytes: Uint8Array,
  name: string,
  bounds: { cost?: UnpackCost; limits?: Partial<UnpackLimits> } = {},
): AsyncGenerator<Read> {
  for await (const item of unpack(bytes, { name, ...bounds })) {
    yield isReport(item) ? await readOne(item) : { kind: 'unread', name: item.name, reason: item.reason }
  }
}

async function readOne(found: FoundReport): Promise<Read> {
  const { name } = found
  try {
    if (found.kind === 'aggregate') return await readAggregate(found)
    if (found.kind === 'failure') return { kind: 'failure', name }
    const report = await parseTlsReport(found.open())
    return refuseUndated({ kind: 'tls', name, key: tlsReportKey(report), report })
  } catch (error) {
    // Anything else is a defect of ours, and the file is taken again when that is mended.
    if (!(error instanceof Fault) || error.code === 'internal') throw error
    return { kind: 'unread', name, reason: error.message }
  }
}

async function readAggregate(found: FoundReport): Promise<Read> {
  const tallies = createTallies()
  const selectors = createSelectors()
  const parts = createParts()
  const report = await parseAggregateReport(found.open(), (record) => {
    tallies.add(record)
    selectors.add(record)
    parts.add(record)
  })
  return refuseUndated({
    kind: 'aggregate',
    name: found.name,
    key: reportKey(report),
    report,
    parts: parts.all(),
    tallies: tallies.all(),
    selectors: selectors.all(),
  })
}

/** Years beyond what a day is written as have no place in statistics. */
function refuseUndated<T extends ReadAggregate | ReadTls>(read: T): T | Unread {
  const { begin, end } = read.report.dateRange
  const isDated = [begin, end].every((date) => date.getTime() >= 0 && date.getUTCFullYear() < 2200)
  return isDated ? read : { kind: 'unread', name: read.name, reason: 'The report is on a time that cannot be.' }
}

function createParts() {
  const parts: string[] = []
  let open: string[] = []
  const close = () => {
    if (open.length > 0) parts.push(`[${open.join(',')}]`)
    open = []
  }
  return {
    add(record: AggregateRecord): void {
      open.push(storable(record))
      if (open.length === PART_RECORDS) close()
    },
    all(): string[] {
      close()
      return parts
    },
  }
}

/** JSON that PostgreSQL takes: without NUL and halves of characters, which its text cannot hold. */
export function storable(value: unknown): string {
  const json = JSON.stringify(value)
  if (!/\\u(?:0000|d[89a-f])/.test(json)) return json
  return JSON.stringify(value, (_key, part: unknown) => (typeof part === 'string' ? plain(part) : part))
}

/** Text as PostgreSQL holds it. */
export function plain(text: string): string {
  return text.replaceAll('\0', '').toWellFormed()
}
